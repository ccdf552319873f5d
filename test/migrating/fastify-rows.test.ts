import { createRequire } from 'node:module'
import { describe, expect, test } from '@jest/globals'
import { type FastifySluiceOptions, sluice } from '@sluice/fastify'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { rowOf } from './page-rows.ts'

const load = createRequire(import.meta.url)
const POLICY = { limit: 1, window: '1m' } as const

describe('@fastify/rate-limit', () => {
  const theirs = load('@fastify/rate-limit')

  async function asked(plugin: typeof sluice, options: object, times = 2) {
    const app: FastifyInstance = fastify()
    await app.register(plugin, options as FastifySluiceOptions)
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
      reply.code(error.statusCode ?? 500).send({ failed: error.message })
    })
    app.get('/', async () => 'ok')
    const answers = []
    for (let time = 0; time < times; time++) answers.push(await app.inject('/'))
    await app.close()
    return answers
  }

  test('an error of errorResponseBuilder reaches the error handler, as one that denied sends', async () => {
    const error = Object.assign(new Error('slow down'), { statusCode: 418 })
    const before = await asked(theirs, { max: 1, errorResponseBuilder: () => error })
    const denied = (_request: unknown, reply: { send(value: unknown): void }): void => reply.send(error)
    const after = await asked(sluice, { rateLimit: { ...POLICY, denied } })
    for (const [, answer] of [before, after])
      expect([answer.statusCode, answer.json()]).toEqual([418, { failed: 'slow down' }])
    expect(rowOf('@fastify/rate-limit', 'errorResponseBuilder')).toContain(
      '`denied: (request, reply) => reply.send(error)`',
    )
  })

  test('an object of errorResponseBuilder is the response, or reaches the error handler, as one that denied throws', async () => {
    const object = { statusCode: 418, message: 'slow down' }
    const denied = (): never => {
      throw object
    }
    const answers = [
      await asked(theirs, { max: 1, errorResponseBuilder: () => object }),
      await asked(sluice, { rateLimit: { ...POLICY, denied } }),
    ]
    for (const [, answer] of answers) expect([answer.statusCode, answer.json()]).toEqual([418, { failed: 'slow down' }])
    expect(rowOf('@fastify/rate-limit', 'errorResponseBuilder')).toContain('`denied: () => { throw object }`')
  })

  test('single headers of a denial are removed in denied', async () => {
    const denied = (_request: unknown, reply: FastifyReply): unknown =>
      reply.removeHeader('x-ratelimit-limit').removeHeader('retry-after').send('slow down')
    const [, { headers }] = await asked(sluice, { rateLimit: { ...POLICY, headers: 'legacy', denied } })
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0' })
    for (const name of ['x-ratelimit-limit', 'retry-after']) expect(headers).not.toHaveProperty(name)
    expect(rowOf('@fastify/rate-limit', 'addHeaders')).toContain('`reply.removeHeader(name)` in `denied`')
  })

  test('a ban of 0 is the status 403', async () => {
    const statuses = (answers: readonly { statusCode: number }[]) => answers.map(({ statusCode }) => statusCode)
    const before = await asked(theirs, { max: 1, ban: 0 }, 3)
    const after = await asked(sluice, { rateLimit: { ...POLICY, status: 403 } }, 3)
    expect(statuses(before)).toEqual([200, 403, 403])
    expect(statuses(after)).toEqual([200, 403, 403])
    expect(rowOf('@fastify/rate-limit', 'ban')).toContain('`ban: 0` is `status: 403`')
  })

  test('requests without a route are not limited with `request.is404`', async () => {
    for (const [plugin, options] of [
      [theirs, { max: 1 }],
      [sluice, { rateLimit: { ...POLICY, skip: (asking: FastifyRequest) => asking.is404 } }],
    ] as const) {
      const app = fastify()
      await app.register(plugin, options)
      app.get('/', async () => 'ok')
      const statuses = []
      for (const url of ['/none', '/none', '/', '/']) statuses.push((await app.inject(url)).statusCode)
      expect(statuses).toEqual([404, 404, 200, 429])
      await app.close()
    }
    expect(rowOf('@fastify/rate-limit', 'rateLimit')).toContain('`skip: (request) => request.is404`')
  })

  test('addHeaders is about denials, and addHeadersOnExceeding about allowed requests', async () => {
    const none = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }
    const limitOf = (answers: readonly { headers: object }[]): boolean[] =>
      answers.map(({ headers }) => 'x-ratelimit-limit' in headers)
    const legacy = { ...POLICY, headers: 'legacy' } as const
    expect(limitOf(await asked(theirs, { max: 1, addHeaders: { ...none, 'retry-after': false } }))).toEqual([
      true,
      false,
    ])
    expect(limitOf(await asked(sluice, { rateLimit: { ...legacy, headers: 'none' } }))).toEqual([false, false])
    expect(limitOf(await asked(theirs, { max: 1, addHeadersOnExceeding: none }))).toEqual([false, true])
    expect(limitOf(await asked(sluice, { rateLimit: { ...legacy, headersOn: 'denied' } }))).toEqual([false, true])
    expect(rowOf('@fastify/rate-limit', 'addHeadersOnExceeding')).toContain("`headersOn: 'denied'`")
  })

  test('onBanReach is the event ban of observers, with the key', async () => {
    const bans: unknown[] = []
    const observers = [{ event: (name: string, data: unknown) => name === 'ban' && bans.push(data) }]
    const ban = { after: 1, within: '1m', for: '1m' } as const
    await asked(sluice, { rateLimit: { ...POLICY, ban, observers } }, 4)
    expect(bans).toEqual([
      expect.objectContaining({ key: '127.0.0.1', policy: expect.anything(), ms: 60_000, level: 0 }),
    ])
  })
})
