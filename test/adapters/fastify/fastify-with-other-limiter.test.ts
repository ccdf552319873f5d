import peer from '@fastify/rate-limit'
import { expect, test } from '@jest/globals'
import { rateLimit, sluice } from '@sluice/fastify'
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify'
import { endedAfterEach } from '../../services/for-tests.ts'

const open = endedAfterEach<FastifyInstance>((one) => one.close())

test('@fastify/rate-limit and the plugin limit one application side by side, each by its own config', async () => {
  const app = fastify()
  open.push(app)
  await app.register(peer, { global: false })
  await app.register(sluice, { rateLimit: { limit: 3, window: '1m' } })
  app.get('/', async () => 'ours')
  app.get(
    '/both',
    { config: { rateLimit: { max: 1, timeWindow: 60_000 }, sluice: { rateLimit: { limit: 2, window: '1m' } } } },
    async (request) => ({ left: request.sluice?.decision?.binding.remaining, ...configOf(request) }),
  )
  const first = await app.inject('/both')
  expect(limitFieldsOf(first)).toEqual(['ratelimit-policy', 'ratelimit'])
  expect(first.json()).toEqual({ left: 1, ours: '1m', theirs: 60_000 })
  const second = await app.inject('/both')
  expect([second.statusCode, second.json().error]).toEqual([429, 'Too Many Requests'])
  expect(limitFieldsOf(second)).toEqual(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
  const third = await app.inject('/both')
  expect([third.statusCode, third.headers['content-type']]).toEqual([429, 'application/problem+json'])
  expect((await app.inject('/')).headers.ratelimit).toContain('r=2')
})

test('a Sluice hook and a hook of @fastify/rate-limit work on the same route', async () => {
  const app = fastify()
  open.push(app)
  await app.register(peer, { global: false })
  const ours = rateLimit({ limit: 1, window: '1m' })
  app.get('/', { onRequest: [app.rateLimit({ max: 5, timeWindow: 60_000 }), ours] }, async () => 'ok')
  expect((await app.inject('/')).headers.ratelimit).toContain('r=0')
  expect((await app.inject('/')).headers['content-type']).toBe('application/problem+json')
})

function limitFieldsOf({ headers }: { readonly headers: object }): string[] {
  return Object.keys(headers).filter((name) => name.includes('ratelimit'))
}

/** Type-checks that both packages add their own property to the config of a route. */
function configOf({ routeOptions: { config } }: FastifyRequest): object {
  return {
    ours: config.sluice?.rateLimit && 'window' in config.sluice.rateLimit && config.sluice.rateLimit.window,
    theirs: config.rateLimit ? config.rateLimit.timeWindow : undefined,
  }
}

test('a config without a window is rejected when its route is declared, if it inherits none', async () => {
  const app = fastify()
  open.push(app)
  await app.register(sluice)
  const declare = (): unknown => app.get('/', { config: { sluice: { rateLimit: { limit: 1 } } } }, async () => 'ok')
  expect(declare).toThrow('window')
})
