import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type FastifySluiceOptions, memoryBackend, sluice } from '@sluice/fastify'
import { FakeClock, until, Warnings, Watcher } from '@sluice/testkit'
import type { FastifyInstance, fastify } from 'fastify'
import { limited, limits, type Make, opened, statuses } from './fastify-injected.ts'

const once = { limit: 1, window: '1m' } as const
const twice = { limit: 2, window: '1m' } as const
const ok = async (): Promise<string> => 'ok'

/** Tests of the Fastify plugin's phases, scopes and lifetime, for both versions. */
export function fastifyParts(make: typeof fastify): void {
  describe('the plugin and its parts', () => parted(make))
}

function parted(make: typeof fastify): void {
  const warnings = new Warnings()
  const app = opened(make)
  beforeEach(() => warnings.listen())
  afterEach(() => warnings.stop())
  describe('a phase', () => phases(app))
  describe('a part of an application', () => parts(app))
  describe('a cap that waits for handlers', () => handlers(app, warnings))
  describe('what the plugin shares and closes', () => lifetimes(app))
}

function phases(app: Make): void {
  const user = (request: object): string => (request as { user?: string }).user ?? 'nobody'
  const as = (made: FastifyInstance, name: string, url = '/') => made.inject({ url, headers: { 'x-user': name } })
  const knowing = (made: FastifyInstance): FastifyInstance =>
    made.addHook('preValidation', async (request) => {
      Object.assign(request, { user: request.headers['x-user'] })
    }) as FastifyInstance

  test('of an application decides after the hooks that identify the user', async () => {
    const made = await limited(knowing(app()), { rateLimit: { ...once, key: user }, phase: 'preHandler' })
    made.get('/', ok)
    const seen = [await as(made, 'ann'), await as(made, 'bob'), await as(made, 'ann')]
    expect(seen.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429])
  })

  test('of a route overrides the phase of the application', async () => {
    const made = await limited(knowing(app()), { rateLimit: { ...once, key: user } })
    made.get('/early', ok)
    made.get('/late', limits({ phase: 'preHandler' }), ok)
    const seen = []
    for (const url of ['/late', '/early']) for (const name of ['ann', 'bob']) seen.push(await as(made, name, url))
    expect(seen.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429])
  })

  test('before the body denies a request without reading its body', async () => {
    const made = await limited(app(), { rateLimit: { ...once, cost: () => 2 } })
    made.post('/', ok)
    const junk = { method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload: '{' } as const
    expect((await made.inject(junk)).statusCode).toBe(429)
  })
}

function parts(app: Make): void {
  test('with the same prefix as another one is counted separately, on a backend that both share', async () => {
    const backend = memoryBackend()
    const made = await limited(app(), { rateLimit: { limit: 9, window: '1m', backend } })
    for (const name of ['a', 'b']) {
      made.register(async (part) => {
        await part.register(sluice, { rateLimit: name === 'a' ? once : twice })
        part.get(`/${name}`, ok)
      })
    }
    expect(await statuses(made, '/a', '/a', '/b', '/b', '/b')).toEqual([200, 429, 200, 200, 429])
  })

  test('counts with its own clock, and the application with its own', async () => {
    const clock = new FakeClock()
    const made = await limited(app(), {})
    made.register(async (part) => {
      await part.register(sluice, { rateLimit: once, clock })
      part.get('/', ok)
    })
    expect(await statuses(made, '/', '/')).toEqual([200, 429])
    clock.advance(120_000)
    expect(await statuses(made, '/')).toEqual([200])
  })

  test('limits its own routes if the application has no limit, independently of another part', async () => {
    const made = app()
    for (const name of ['a', 'b']) {
      made.register(async (part) => {
        await part.register(sluice, { rateLimit: once })
        part.get(`/${name}`, ok)
      })
    }
    made.get('/free', ok)
    expect(await statuses(made, '/a', '/b', '/a', '/free', '/free')).toEqual([200, 200, 429, 200, 200])
  })

  test('must not be registered before its application', async () => {
    const made = app()
    made.register(async (part) => void (await part.register(sluice, { rateLimit: once })))
    made.register(sluice, { rateLimit: twice })
    await expect(made.ready()).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  })

  test('can be registered twice to add limits', async () => {
    const made = await limited(app(), { rateLimit: { ...twice, name: 'all' } })
    await limited(made, { rateLimit: { ...once, name: 'more' } })
    made.get('/', ok)
    const { headers } = await made.inject('/')
    expect(headers['ratelimit-policy']).toBe('"all";q=2;w=60, "more";q=1;w=60')
    expect(await statuses(made, '/')).toEqual([429])
  })
}

function handlers(app: Make, warnings: Warnings): void {
  const waiting = (watcher: Watcher) =>
    ({ limit: 1, holdUntil: 'handler', observers: [watcher] }) satisfies FastifySluiceOptions['inflightLimit']

  test.each<[string, (watcher: Watcher) => [FastifySluiceOptions, object]]>([
    ['an application', (watcher) => [{ inflightLimit: waiting(watcher) }, {}]],
    ['a route', (watcher) => [{}, limits({ inflightLimit: waiting(watcher) })]],
  ])('of %s holds a permit until they are done, even if the response was sent earlier', async (_what, said) => {
    const watcher = new Watcher()
    const [options, route] = said(watcher)
    let finish = (): void => {}
    const made = await limited(app(), options)
    made.get('/', route, async (_request, reply) => {
      await undefined
      reply.send('ok')
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    expect(await statuses(made, '/', 'HEAD /')).toEqual([200, 503])
    finish()
    await until(() => watcher.held === 0)
    expect(warnings.codes).toEqual([])
  })

  test('holds a permit until the response is sent if a handler uses a callback, throws or rejects', async () => {
    const watcher = new Watcher()
    const made = await limited(app(), { inflightLimit: waiting(watcher) })
    const fail = (): never => {
      throw new Error('a fault of the application')
    }
    made.get('/callback', (_request, reply) => void setImmediate(() => reply.send('ok')))
    made.get('/throws', fail)
    made.get('/rejects', async () => fail())
    for (const [url, status] of [
      ['/callback', 200],
      ['/throws', 500],
      ['/rejects', 500],
    ] as const) {
      expect(await statuses(made, url)).toEqual([status])
      await until(() => watcher.held === 0)
    }
    expect(watcher.acquired).toBe(3)
  })

  test('warns once for a route declared before the plugin, and holds its permit until the response is sent', async () => {
    const watcher = new Watcher()
    const made = app()
    made.get('/', ok)
    await limited(made, { inflightLimit: waiting(watcher) })
    expect(await statuses(made, '/', '/', '/none')).toEqual([200, 200, 404])
    await until(() => watcher.held === 0)
    expect(warnings.codes).toEqual(['SLUICE_BAD_OPTION'])
    expect(warnings.texts[0]).toContain('/')
  })
}

function lifetimes(app: Make): void {
  test('a backend, a clock and observers apply to route limits of kinds that the application does not have', async () => {
    const [clock, watcher] = [new FakeClock(), new Watcher()]
    const backend = memoryBackend({ clock })
    const made = await limited(app(), { backend, clock, observers: [watcher] })
    made.get('/a', limits({ rateLimit: once, inflightLimit: { limit: 1 } }), ok)
    made.get('/b', limits({ rateLimit: twice }), ok)
    expect(await statuses(made, '/a', '/a', '/b')).toEqual([200, 429, 200])
    expect([watcher.decisions.length, watcher.acquired]).toEqual([3, 1])
    clock.advance(120_000)
    expect(await statuses(made, '/a')).toEqual([200])
  })

  test('waiting requests continue when the application closes, and the names of its counts are released', async () => {
    const [clock, backend] = [new FakeClock(), memoryBackend()]
    const slowDown = { after: 0, window: '1m', delayMs: '1s', maxDelayMs: '1s', clock } as const
    const made = await limited(app(), { rateLimit: { ...twice, algorithm: 'fixed-window', backend }, slowDown })
    let waits = 0
    made.get('/', async () => {
      waits++
      return 'ok'
    })
    const asked = made.inject('/')
    await until(() => clock.pending > 0)
    await made.close()
    expect([(await asked).statusCode, waits]).toEqual([200, 1])
    const next = await limited(app(), { rateLimit: { limit: 3, window: '1m', algorithm: 'fixed-window', backend } })
    next.get('/', ok)
    expect((await next.inject('/')).headers.ratelimit).toContain('r=1')
  })
}
