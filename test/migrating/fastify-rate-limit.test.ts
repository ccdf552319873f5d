import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { byHeader, sluice } from '@sluice/fastify'
import { eachSeed } from '@sluice/testkit'
import { type FastifyPluginCallback, type FastifyRequest, fastify, type RouteShorthandOptions } from 'fastify'
import request from 'supertest'
import { type App, askBoth, fakeClocks, isMixed } from './same-responses.ts'

const theirs: FastifyPluginCallback<object> = createRequire(import.meta.url)('@fastify/rate-limit')
const SAME = { algorithm: 'fixed-window', headers: 'legacy', legacy: { reset: 'delta' } } as const
const open = new Set<() => Promise<void>>()

/** An app with the plugin and two routes, the second with its own config. */
async function appBehind<O extends object>(
  plugin: FastifyPluginCallback<O>,
  options: O,
  config?: object,
): Promise<App> {
  const app = fastify()
  open.add(() => app.close())
  await app.register(plugin as FastifyPluginCallback<object>, options)
  app.get('/', async () => 'ok')
  app.get('/own', { config } as RouteShorthandOptions, async () => 'ok')
  await app.ready()
  return app.server
}

beforeEach(fakeClocks)
afterEach(async () => {
  for (const close of open) await close()
  open.clear()
  jest.useRealTimers()
})

describe('from @fastify/rate-limit', () => {
  test('fixed windows and legacy headers with relative seconds give the same responses, request by request', async () => {
    await eachSeed(2, async (random) => {
      const before = await appBehind(theirs, { max: 5, timeWindow: 60_000 })
      const after = await appBehind(sluice, { rateLimit: { limit: 5, window: '1m', ...SAME } })
      const [was, is] = await askBoth([before, after], random, { asks: 40, longestGapMs: 12_000 })
      expect(is).toEqual(was)
      expect(isMixed(is)).toBe(true)
    })
  })

  test('the headers of `enableDraftSpec` are those of draft 6', async () => {
    await eachSeed(1, async (random) => {
      const before = await appBehind(theirs, { max: 5, timeWindow: 60_000, enableDraftSpec: true })
      const rate = { limit: 5, window: '1m', algorithm: 'fixed-window', headers: 'draft-6' } as const
      const after = await appBehind(sluice, { rateLimit: rate })
      const [was, is] = await askBoth([before, after], random, { asks: 40, longestGapMs: 12_000 })
      expect(is).toEqual(was)
      expect(is[0].headers['ratelimit-remaining']).toBe('4')
    })
  })

  test('routes with their own limits, exempt clients and custom responses are the same', async () => {
    const before = await appBehind(
      theirs,
      {
        max: 2,
        timeWindow: 60_000,
        keyGenerator: ({ headers }: FastifyRequest) => String(headers['x-user']),
        allowList: ['root'],
        errorResponseBuilder: () => ({ statusCode: 429, error: 'later' }),
      },
      { rateLimit: { max: 1, timeWindow: 60_000 } },
    )
    const after = await appBehind(
      sluice,
      {
        rateLimit: {
          limit: 2,
          window: '1m',
          ...SAME,
          key: byHeader('x-user'),
          skip: ({ headers }: FastifyRequest) => headers['x-user'] === 'root',
          denied: () => ({ statusCode: 429, error: 'later' }),
        },
      },
      { sluice: { rateLimit: { limit: 1, window: '1m', algorithm: 'fixed-window' } } },
    )
    const asks = ['/ anna', '/own anna', '/own anna', '/ anna', '/ anna', '/ bert', '/own root', '/own root']
    const seen: [unknown[], unknown[]] = [[], []]
    for (const asked of asks) {
      const [path, user] = asked.split(' ')
      for (const [index, app] of [before, after].entries()) {
        const { status, body } = await request(app).get(path).set('x-user', user)
        seen[index].push([asked, status, status === 429 ? body : {}])
      }
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[1].filter((answer) => (answer as unknown[])[1] === 429)).toHaveLength(2)
  })

  test('a route that sets only the limit keeps the window of the application', async () => {
    const before = await appBehind(theirs, { max: 5, timeWindow: 3_600_000 }, { rateLimit: { max: 1 } })
    const rateLimit = { limit: 5, window: '1h', ...SAME } as const
    const after = await appBehind(sluice, { rateLimit }, { sluice: { rateLimit: { limit: 1 } } })
    const seen: unknown[][] = [[], []]
    for (const path of ['/own', '/own', '/']) {
      for (const [index, app] of [before, after].entries()) {
        const { status, headers } = await request(app).get(path)
        seen[index].push([status, headers['retry-after'], headers['x-ratelimit-limit'], headers['x-ratelimit-reset']])
      }
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[1][1]).toEqual([429, '3600', '1', '3600'])
  })

  test('routes of one group share a count through the same scope and name', async () => {
    const rate = { name: 'reports', scope: 'reports', limit: 2, window: '1m' } as const
    const app = fastify()
    open.add(() => app.close())
    await app.register(sluice, {})
    for (const path of ['/a', '/b']) app.get(path, { config: { sluice: { rateLimit: rate } } }, async () => 'ok')
    const statuses: number[] = []
    for (const url of ['/a', '/b', '/b', '/a']) statuses.push((await app.inject({ url })).statusCode)
    expect(statuses).toEqual([200, 200, 429, 429])
  })

  test('requests without a route were not counted before, and are now', async () => {
    const before = await appBehind(theirs, { max: 1, timeWindow: 60_000 })
    const after = await appBehind(sluice, { rateLimit: { limit: 1, window: '1m' } })
    const statuses = async (app: App) => [
      (await request(app).get('/nowhere')).status,
      (await request(app).get('/nowhere')).status,
    ]
    expect([await statuses(before), await statuses(after)]).toEqual([
      [404, 404],
      [404, 429],
    ])
  })

  test('a limit that is a string meant the default of 1,000 before, and is now rejected', async () => {
    const before = await appBehind(theirs, {}, { rateLimit: { max: 'five' } })
    expect((await request(before).get('/own')).headers['x-ratelimit-limit']).toBe('1000')
    const after = appBehind(sluice, {}, { sluice: { rateLimit: { limit: 'five', window: '1m' } } })
    await expect(after).rejects.toMatchObject({ code: 'SLUICE_BAD_LIMIT' })
  })
})
