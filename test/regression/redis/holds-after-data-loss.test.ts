import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { eventually } from '../../services/eventually.ts'
import { calledAfterEach } from '../../services/for-tests.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const ends = calledAfterEach()

const plain: PolicyInput = {
  name: 'tokens',
  limit: 1_000,
  window: '1h',
  algorithm: 'fixed-window',
  maxHoldMs: '10m',
}
const policies: readonly PolicyInput[] = [
  plain,
  { ...plain, retry: 'booked' },
  { ...plain, algorithm: 'sliding-window' },
]

async function startServer(): Promise<RedisServer> {
  const server = await startRedis()
  ends.push(() => server.stop())
  return server
}

async function process(server: RedisServer, policy: PolicyInput): Promise<Limiter> {
  const client = createRedis(server.url, { retryStrategy: () => 20, socketTimeout: 20_000 })
  const backend = redisBackend(client)
  const limiter = createLimiter({ policies: [policy], backend, deadlineMs: 20_000, onBackendError: 'deny' })
  ends.push(async () => {
    limiter.close()
    await backend.close?.()
    client.disconnect()
  })
  await counts(limiter)
  return limiter
}

/** Waits until the process has a connection. */
function counts(limiter: Limiter): Promise<void> {
  return eventually(async () => (await limiter.take('other', 1)).counted, { what: 'a connection' })
}

async function left(limiter: Limiter): Promise<number> {
  return (await limiter.take('key', 0)).binding.remaining
}

describe.each(policies)('Redis without its data, with $algorithm and retry $retry', (policy) => {
  test('extends a hold by units that are left, and spends each unit once', async () => {
    const server = await startServer()
    const limiter = await process(server, policy)
    const hold = await limiter.hold('key', { reserve: 2 })
    for (const units of [100, 400]) expect(await hold.extend(units)).toBe(true)
    await server.restart()
    await counts(limiter)
    expect([await hold.extend(400), hold.decision.counted]).toEqual([true, true])
    expect(await left(limiter)).toBe(98)
    await hold.settle(850)
    expect(await left(limiter)).toBe(150)
  })

  test('keeps the units held that other processes hold', async () => {
    const server = await startServer()
    const [one, other] = [await process(server, policy), await process(server, policy)]
    expect((await one.take('key', 100)).allowed).toBe(true)
    const [first, second] = [await one.hold('key', { reserve: 300 }), await other.hold('key', { reserve: 200 })]
    expect(await left(one)).toBe(400)
    await server.restart()
    await Promise.all([counts(one), counts(other)])
    // the process with less knowledge is first
    for (const limiter of [other, one]) expect(await left(limiter)).toBe(400)
    expect((await other.peek('key', 401)).allowed).toBe(false)
    expect(await first.extend(100)).toBe(true)
    await second.settle(50)
    expect(await left(other)).toBe(450)
    await first.release()
    expect(await left(one)).toBe(850)
  })

  test('returns held units that are never settled, and no spent ones', async () => {
    const server = await startServer()
    const short = { ...policy, maxHoldMs: '500ms' } as const
    const [one, other] = [await process(server, short), await process(server, short)]
    expect((await one.take('key', 100)).allowed).toBe(true)
    const hold = await other.hold('key', { reserve: 200 })
    expect((await one.hold('key', { reserve: 300 })).allowed).toBe(true)
    await hold.settle(200)
    await server.restart()
    await Promise.all([counts(one), counts(other)])
    // the first process has heard of the 200 units while they were held
    for (const limiter of [one, other]) await left(limiter)
    await eventually(async () => (await left(one)) === 700, { what: '300 units again' })
  })
})
