import { expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { eventually } from '../services/eventually.ts'
import { calledAfterEach } from '../services/for-tests.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

const ends = calledAfterEach()

const LIMIT = 10
const HOUR_MS = 3_600_000

async function started(deadlineMs = 20_000): Promise<{ server: RedisServer; limiter: Limiter }> {
  const server = await startRedis()
  ends.push(() => server.stop())
  const client = createRedis(server.url, { retryStrategy: () => 20 })
  ends.push(async () => client.disconnect())
  const backend = redisBackend(client)
  const policies = [{ name: 'turns', limit: LIMIT, window: '1h', retry: 'booked', backend } as const]
  const limiter = createLimiter({ policies, scope: 'faults', deadlineMs })
  ends.push(async () => limiter.close())
  await eventually(async () => (await limiter.take('ready')).source === 'redis', { what: 'an answer of Redis' })
  return { server, limiter }
}

async function takes(limiter: Limiter, count: number): Promise<readonly Decision[]> {
  const decisions: Decision[] = []
  for (let times = 0; times < count; times++) decisions.push(await limiter.take('a'))
  for (const { allowed, retryAfterMs } of decisions) {
    // the longest wait: ten limits and the window, and never NaN
    expect(allowed ? retryAfterMs === 0 : retryAfterMs > 0 && retryAfterMs <= 11.1 * HOUR_MS).toBe(true)
  }
  return decisions
}

const isBack = (limiter: Limiter): Promise<void> =>
  eventually(async () => (await limiter.take('ready')).source === 'redis', { what: 'an answer of Redis' })
const admittedOf = (decisions: readonly Decision[]): number => decisions.filter(({ allowed }) => allowed).length

test('a Redis that restarts with its data keeps the queue', async () => {
  const { server, limiter } = await started()
  const before = await takes(limiter, LIMIT + 20)
  expect(admittedOf(before)).toBe(LIMIT)
  await server.restart({ empty: false })
  await isBack(limiter)
  const [next] = await takes(limiter, 1)
  const last = before.at(-1)?.retryAfterMs ?? 0
  // its turn is one behind the last one, apart from the time of the restart
  expect(next.retryAfterMs).toBeGreaterThan(last)
  expect(next.retryAfterMs).toBeLessThan(last + HOUR_MS / 5)
})

test('a Redis that restarts without its data admits no caller of a denied key, and books turns again', async () => {
  const { server, limiter } = await started()
  await takes(limiter, LIMIT + 20)
  await server.restart({ empty: true })
  await isBack(limiter)
  const after = await takes(limiter, 5)
  expect(admittedOf(after)).toBe(0)
  const waits = after.map(({ retryAfterMs }) => retryAfterMs)
  expect(new Set(waits).size).toBe(5)
  expect(waits[0]).toBeLessThanOrEqual(HOUR_MS)
})

test('callers are denied locally while Redis is down, and by Redis when it is back without its data', async () => {
  const { server, limiter } = await started()
  await takes(limiter, LIMIT + 20)
  await server.kill()
  const meanwhile = await takes(limiter, 5)
  expect([admittedOf(meanwhile), new Set(meanwhile.map(({ source }) => source))]).toEqual([0, new Set(['local'])])
  for (const { retryAfterMs } of meanwhile) expect(retryAfterMs).toBeLessThanOrEqual(HOUR_MS)
  await server.start()
  await isBack(limiter)
  // the server lost its data, and this process has reported the usage
  expect(admittedOf(await takes(limiter, 2))).toBe(0)
})

test('a Redis that is stopped and continued has booked no turn for a request that it did not answer in time', async () => {
  const { server, limiter } = await started(100)
  await eventually(async () => (await takes(limiter, LIMIT + 1)).every(({ source }) => source === 'redis'), {
    what: 'takes in time',
  })
  const [before] = await takes(limiter, 1)
  server.pause()
  const stalled = await Promise.all(Array.from({ length: 20 }, () => limiter.take('a')))
  server.resume()
  expect(stalled.map(({ allowed, source }) => [allowed, source])).toEqual(stalled.map(() => [false, 'local']))
  await isBack(limiter)
  let after: Decision | undefined
  await eventually(
    async () => {
      after = await limiter.take('a')
      return after.source === 'redis'
    },
    { what: 'a take in time' },
  )
  // one turn behind, or a few if a take of this test itself was late
  const turnMs = HOUR_MS / LIMIT
  const behindMs = (after?.retryAfterMs ?? 0) - before.retryAfterMs
  expect(behindMs).toBeGreaterThan(0)
  expect(behindMs).toBeLessThan(6 * turnMs)
})
