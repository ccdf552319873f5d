import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { byRoute, type FastifyRouteLimits, type FastifySluiceOptions, rateLimit, sluice } from '@sluice/fastify'
import { Warnings } from '@sluice/testkit'
import type { FastifyInstance, fastify } from 'fastify'
import { limited, limits, type Make, opened, statuses } from './fastify-injected.ts'

const once = { limit: 1, window: '1m' } as const
const twice = { limit: 2, window: '1m' } as const
const ok = async (): Promise<string> => 'ok'

/** Tests of the routes that the Fastify plugin limits, and of their config, for both versions. */
export function fastifyPlugin(make: typeof fastify): void {
  describe('the plugin and routes', () => routed(make))
}

function routed(make: typeof fastify): void {
  const warnings = new Warnings()
  const app = opened(make)
  beforeEach(() => warnings.listen())
  afterEach(() => warnings.stop())
  describe('the plugin', () => covers(app))
  describe('the config of a route', () => configs(app, warnings))
}

function covers(app: Make): void {
  test.each(['awaited', 'not awaited'])(
    '%s covers routes before and after it, child plugins, and requests without a route',
    async (how) => {
      const made = app()
      const child = async (part: FastifyInstance): Promise<void> => void part.get('/in', ok)
      made.get('/before', ok)
      made.register(child, { prefix: '/early' })
      const registered = made.register(sluice, { rateLimit: { limit: 5, window: '1m' } })
      if (how === 'awaited') await registered
      made.register(child, { prefix: '/late' })
      made.get('/after', ok)
      expect(await statuses(made, '/before', '/early/in', '/late/in', '/none', '/after', '/after', '/none')).toEqual([
        200, 200, 200, 404, 200, 429, 429,
      ])
    },
  )

  test('counts a request once if a hook or handler forwards it to the 404 handler', async () => {
    const made = app()
    made.addHook('onRequest', (request, reply, done) => {
      if (request.headers['x-hook']) reply.callNotFound()
      else done()
    })
    await limited(made, { rateLimit: { limit: 2, window: '1m' } })
    made.get('/', async (_request, reply) => reply.callNotFound())
    const hooked = { url: '/', headers: { 'x-hook': 'yes' } }
    expect((await made.inject(hooked)).headers.ratelimit).toContain('r=1')
    expect((await made.inject('/')).headers.ratelimit).toContain('r=0')
    expect([(await made.inject(hooked)).statusCode, (await made.inject('/')).statusCode]).toEqual([429, 429])
  })

  test('works next to hooks from the same package', async () => {
    const made = await limited(app(), { rateLimit: { ...twice, name: 'all' } })
    made.get('/', { onRequest: rateLimit({ ...once, name: 'own' }) }, ok)
    const { headers } = await made.inject('/')
    expect(headers['ratelimit-policy']).toBe('"all";q=2;w=60, "own";q=1;w=60')
  })

  test('exposes its decision to handlers, also on routes without a limit', async () => {
    const made = await limited(app(), {})
    made.get('/', async ({ sluice: words }) => ({ decisions: words?.decisions.length }))
    expect((await made.inject('/')).json()).toEqual({ decisions: 0 })
  })

  test.each<[string, unknown]>([
    ['an unknown option', { rate: once }],
    ['an unknown phase', { phase: 'onSend' }],
    ['skipLimits that is not an array of names', { skipLimits: 'burst' }],
    ['a rate that is a string', { rateLimit: 'many' }],
  ])('is rejected with %s', async (_what, options) => {
    const made = app()
    made.register(sluice, options as FastifySluiceOptions)
    await expect(made.ready()).rejects.toMatchObject({ code: expect.stringMatching(/^SLUICE_BAD_/) })
  })

  test('accepts the options that Fastify passes to every plugin', async () => {
    const made = app()
    made.register(sluice, { rateLimit: once, prefix: '/v1', logLevel: 'warn' } as FastifySluiceOptions)
    made.get('/', ok)
    expect(await statuses(made, '/', '/')).toEqual([200, 429])
  })
}

function configs(app: Make, warnings: Warnings): void {
  test('applies to a GET and its HEAD together, and to every other route separately', async () => {
    const made = await limited(app(), {})
    const own = limits({ rateLimit: once })
    made.get('/a', own, ok)
    made.post('/a', own, ok)
    made.get('/b/:id', own, ok)
    const asked = ['/a', 'HEAD /a', 'POST /a', '/b/1', 'HEAD /b/2', '/b/3']
    expect(await statuses(made, ...asked)).toEqual([200, 429, 200, 200, 429, 429])
  })

  test.each([{}, { key: byRoute() }])('applies to both spellings of the root of a prefix together', async (options) => {
    const made = await limited(app(), {})
    const own = limits({ rateLimit: { ...once, ...options } })
    made.register(async (part) => void part.get('/', own, ok), { prefix: '/v1' })
    expect(await statuses(made, '/v1', '/v1/')).toEqual([200, 429])
  })

  test('applies to routes and a 404 handler declared before the plugin', async () => {
    const made = app()
    for (const url of ['/a', '/b', '/c']) made.get(url, limits({ rateLimit: twice }), ok)
    await limited(made)
    expect(await statuses(made, '/a', '/a', '/a', '/b', '/c')).toEqual([200, 200, 429, 200, 200])
    expect(await statuses(made, '/none', '/none')).toEqual([404, 429])
    expect(warnings.codes).toEqual([])
  })

  test.each<[string, unknown, string]>([
    ['a window that is not a duration', { rateLimit: { limit: 1, window: 'soon' } }, 'SLUICE_BAD_DURATION'],
    ['an unknown option', { limit: 1 }, 'SLUICE_BAD_OPTION'],
    ['an unknown phase', { phase: 'onSend' }, 'SLUICE_BAD_OPTION'],
    ['no options', true, 'SLUICE_BAD_OPTION'],
  ])('is rejected when its route is declared, and the error names the route: %s', async (_what, bad, code) => {
    const made = await limited(app())
    let error: unknown
    try {
      made.get('/login', limits(bad as FastifyRouteLimits), ok)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(`^${code}: route GET /login: .*expected .*, received `),
    })
  })

  test('that is invalid is warned about and ignored if its route was declared before the plugin', async () => {
    const made = app()
    made.get('/login', limits({ rateLimit: { limit: 0, window: '1m' } }), ok)
    await limited(made)
    expect(await statuses(made, '/login', '/login', '/login')).toEqual([200, 429, 429])
    expect(warnings.codes).toEqual(['SLUICE_BAD_LIMIT'])
    expect(warnings.texts[0]).toContain('route GET /login')
  })
}
