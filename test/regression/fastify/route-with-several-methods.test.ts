import { METHODS } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import Router from '@koa/router'
import { byRoute, rateLimit as ofFastify, sluice } from '@sluice/fastify'
import { rateLimit as ofKoa } from '@sluice/koa'
import { type FastifyInstance, fastify } from 'fastify'
import Koa from 'koa'
import { askForStatus } from '../../adapters/ask-for-status.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'
import { running } from '../../adapters/running-app.ts'
import { endedAfterEach } from '../../services/for-tests.ts'

const twice = { limit: 2, window: '1m', key: byRoute() } as const
const all = METHODS.filter((method) => method !== 'CONNECT')

describe.each([
  ['Koa 2', Koa2],
  ['Koa 3', Koa],
])('%s', (_version, Make) => {
  const ok: Koa.Middleware = (ctx) => {
    ctx.status = 200
  }

  test.each<[string, (router: Router) => unknown, readonly string[]]>([
    ['router.all', (router) => router.all('/a', ofKoa(twice), ok), all],
    [
      'router.register',
      (router) => router.register('/a', ['PUT', 'GET', 'POST'], [ofKoa(twice), ok]),
      ['GET', 'HEAD', 'PUT', 'POST'],
    ],
    ['router.use', (router) => router.use(ofKoa(twice)).get('/a', ok).post('/a', ok), ['GET', 'HEAD', 'POST']],
    [
      'router.use of its path',
      (router) => router.use('/a', ofKoa(twice)).get('/a', ok).post('/a', ok),
      ['GET', 'HEAD', 'POST'],
    ],
    [
      'router.all after a get',
      (router) => {
        const limit = ofKoa(twice)
        router.get('/a', limit, ok).all('/a', limit, ok)
      },
      all,
    ],
  ])('counts all methods of %s together', async (_what, declare, methods) => {
    const router = new Router()
    declare(router)
    const { port, close } = await running(new Make().use(router.routes()).callback())
    let passed = 0
    for (const method of methods) if ((await askForStatus(port, { method, path: '/a' })) === 200) passed++
    await close()
    expect(passed).toBe(2)
  })
})

describe.each([
  ['Fastify 4', fastify4],
  ['Fastify 5', fastify],
])('%s', (_version, make) => {
  const made = endedAfterEach<FastifyInstance>((app) => app.close())
  const opened = (): FastifyInstance => {
    made.push(make())
    return made[made.length - 1]
  }
  const ok = async (): Promise<string> => 'ok'

  async function passed(app: FastifyInstance, methods: readonly string[], url: string): Promise<number> {
    let passes = 0
    for (const method of methods) if ((await app.inject({ method: method as 'GET', url })).statusCode === 200) passes++
    return passes
  }

  test.each(['hook', 'plugin'])('counts all methods of a route together, and the HEAD of its GET (%s)', async (how) => {
    const app = opened()
    if (how === 'hook') app.addHook('onRequest', ofFastify(twice))
    else await app.register(sluice, { rateLimit: twice })
    app.route({ method: ['POST', 'GET'], url: '/list', handler: ok })
    app.route({ method: ['PUT', 'PATCH'], url: '/list', handler: ok })
    app.all('/all', ok)
    expect(await passed(app, ['HEAD', 'GET', 'POST', 'HEAD'], '/list')).toBe(2)
    expect(await passed(app, ['PATCH', 'PUT', 'PATCH'], '/list')).toBe(2)
    expect(await passed(app, ['DELETE', 'HEAD', 'GET', 'POST', 'OPTIONS'], '/all')).toBe(2)
  })

  test.each(['before', 'after'])(
    'applies the config of a route with several methods to the HEAD of its GET, too (%s the plugin)',
    async (when) => {
      const app = opened()
      const config = { sluice: { rateLimit: { limit: 2, window: '1m' } } } as const
      if (when === 'after') await app.register(sluice, {})
      app.route({ method: ['POST', 'GET'], url: '/list', config, handler: ok })
      app.get('/other', { config }, ok)
      if (when === 'before') await app.register(sluice, {})
      expect(await passed(app, ['HEAD', 'GET', 'POST', 'HEAD'], '/list')).toBe(2)
      expect(await passed(app, ['HEAD', 'GET', 'HEAD'], '/other')).toBe(2)
    },
  )
})
