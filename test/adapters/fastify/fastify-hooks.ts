import { describe, expect, test } from '@jest/globals'
import { byAll, byIp, byRoute, rateLimit } from '@sluice/fastify'
import { until, Warnings } from '@sluice/testkit'
import type { FastifyReply, fastify } from 'fastify'
import { type Make, opened, statuses } from './fastify-injected.ts'

const once = { limit: 1, window: '1m' } as const

/** Tests of limits as Fastify hooks, for both versions. Requests are injected, without a socket. */
export function fastifyHooks(make: typeof fastify): void {
  describe('hooks', () => hooked(make))
}

function hooked(make: typeof fastify): void {
  const app = opened(make)
  describe('a limit as a hook', () => places(app))
  describe('a key by route', () => routes(app))
  describe('a denial', () => denials(app))
}

function places(app: Make): void {
  test('limits only its own route, and works next to an application-wide limit', async () => {
    const made = app()
    made.addHook('onRequest', rateLimit({ name: 'all', limit: 3, window: '1m' }))
    made.get('/login', { onRequest: rateLimit({ name: 'login', ...once }) }, async () => 'ok')
    made.get('/other', async () => 'ok')
    expect(await statuses(made, '/login', '/login', '/other', '/other')).toEqual([200, 429, 200, 429])
  })

  test('limits the routes of its plugin, and requests without a route', async () => {
    const made = app()
    made.register(
      async (child) => {
        child.addHook('onRequest', rateLimit({ limit: 2, window: '1m' }))
        child.setNotFoundHandler((_request, reply) => reply.code(404).send())
        child.get('/a', async () => 'ok')
      },
      { prefix: '/v1' },
    )
    made.get('/free', async () => 'ok')
    expect(await statuses(made, '/v1/a', '/v1/none', '/v1/a', '/free', '/free')).toEqual([200, 404, 429, 200, 200])
  })

  test('can use, as a preHandler, what earlier hooks set on the request', async () => {
    const made = app()
    const user = (request: object): string | undefined => (request as { user?: string }).user
    made.addHook('onRequest', async (request) => {
      Object.assign(request, { user: request.headers['x-user'] })
    })
    made.get('/', { preHandler: rateLimit({ ...once, key: user }) }, async () => 'ok')
    const as = async (name: string) => (await made.inject({ url: '/', headers: { 'x-user': name } })).statusCode
    expect([await as('ann'), await as('bob'), await as('ann')]).toEqual([200, 200, 429])
  })

  test('exposes its decision to handlers', async () => {
    const made = app()
    made.addHook('onRequest', rateLimit(once))
    made.get('/', async (request) => `${request.sluice?.decision?.binding.remaining}`)
    expect((await made.inject('/')).body).toBe('0')
  })
}

function routes(app: Make): void {
  test.each(['/login/7', '/%6Cogin/7', '/login/%37', '/login/8'])(
    'counts %s together with every other spelling',
    async (url) => {
      const made = app()
      made.get('/login/:id', { onRequest: rateLimit({ ...once, key: byRoute() }) }, async () => 'ok')
      expect(await statuses(made, '/login/7', url)).toEqual([200, 429])
    },
  )

  test('counts routes and methods separately, HEAD and GET together, and all requests without a route under one key', async () => {
    const made = app()
    made.addHook('onRequest', rateLimit({ ...once, key: byAll(byRoute(), byIp()) }))
    for (const method of ['GET', 'POST']) made.route({ method, url: '/a', handler: async () => 'ok' })
    made.get('/b', async () => 'ok')
    expect(await statuses(made, '/a', '/b', '/a', 'POST /a', 'HEAD /b')).toEqual([200, 200, 429, 200, 429])
    expect(await statuses(made, '/no', '/where')).toEqual([404, 429])
  })
}

function denials(app: Make): void {
  test('is not an error: onSend and onResponse run, onError and the error handler do not', async () => {
    const ran: string[] = []
    const made = app()
    made.setErrorHandler((_error, _request, reply) => {
      ran.push('error handler')
      reply.code(500).send()
    })
    made.addHook('onError', async () => void ran.push('onError'))
    made.addHook('onSend', async (_request, reply) => {
      reply.header('x-sent', 'yes')
      ran.push('onSend')
    })
    made.addHook('onResponse', async () => void ran.push('onResponse'))
    made.addHook('onRequest', rateLimit({ ...once, cost: () => 2 }))
    made.get('/', async () => {
      ran.push('handler')
      return 'ok'
    })
    const { statusCode, headers, payload } = await made.inject('/')
    expect([statusCode, headers['x-sent'], headers['content-type']]).toEqual([429, 'yes', 'application/problem+json'])
    expect(JSON.parse(payload).status).toBe(429)
    expect(ran).toEqual(['onSend', 'onResponse'])
  })

  test('keeps headers that earlier hooks set, also those set on the raw response', async () => {
    const made = app()
    made.addHook('onRequest', async (_request, reply) => {
      reply.header('access-control-allow-origin', '*').header('etag', '"a"')
      reply.raw.setHeader('last-modified', 'Sat, 21 Nov 2026 00:00:00 GMT')
      reply.raw.setHeader('x-frame-options', 'DENY')
    })
    made.addHook('onRequest', rateLimit({ ...once, cost: () => 2 }))
    made.get('/', async () => 'ok')
    const { headers } = await made.inject('/')
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-frame-options': 'DENY' })
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['etag']))
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['last-modified']))
  })

  test('of a request that has been answered in the meantime writes nothing', async () => {
    const warnings = new Warnings()
    warnings.listen()
    let decided = (): void => {}
    const slow = (): Promise<string> => new Promise((resolve) => (decided = () => resolve('late')))
    let reply: FastifyReply | undefined
    const made = app()
    made.addHook('onRequest', async (_request, one) => {
      reply = one
    })
    made.addHook('onRequest', rateLimit({ ...once, cost: () => 2, key: slow }))
    made.get('/', async () => 'ok')
    const answer = made.inject('/')
    await until(() => reply !== undefined)
    reply?.code(202).send('answered')
    expect(await answer).toMatchObject({ statusCode: 202, payload: 'answered' })
    decided()
    await new Promise(setImmediate)
    warnings.stop()
    expect(warnings.codes).toEqual([])
  })
}
