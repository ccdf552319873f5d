import { beforeEach, describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type Observer, type Permit } from '@sluice/limiter-core'
import { isPromise, systemClock } from '@sluice/limiter-core/backend'
import { Redis } from 'ioredis'
import { forTests } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { clients, eventually, Fleet } from './fleet.ts'

const redis = redisForTests()
const fleet = forTests(
  () => new Fleet(redis.server.port),
  (one) => one.close(),
)
let events: string[]

beforeEach(() => {
  events = []
})

/** Events of backends from earlier tests are ignored. */
function observers(): readonly Observer[] {
  const ownEvents = events
  return [
    {
      event: (name: string, { state, cause }: Readonly<Record<string, unknown>>) => {
        ownEvents.push(name === 'breaker' ? `breaker ${state}` : `${name} ${cause}`)
      },
    },
  ]
}

describe.each(clients)('redisInflight over %s', (version, Client) => {
  test('answers by the local count at once while Redis is down, and by the shared count soon afterwards', async () => {
    const limit = 3
    const client = await fleet.current.client(Client)
    const backend = fleet.current.backend(client, { leaseMs: 1_200, observers: observers() })
    const cap = createInflightLimiter({ name: `gone over ${version}`, limit, backend })
    const before = (await cap.acquire('k')) as Permit
    await redis.server.kill()
    await eventually(async () => (await cap.count('k')) >= 0 && events.includes('breaker open'), true)
    const asked = [cap.acquire('k'), cap.acquire('k'), cap.acquire('k')]
    // like a cap in memory
    expect(asked.map(isPromise)).toEqual([false, false, false])
    expect(asked.map((permit) => permit !== undefined)).toEqual([true, true, false])
    before.release()
    expect(cap.count('k')).toBe(2)
    await redis.server.restart()
    const backAt = systemClock.now()
    const watching = await fleet.current.member({ deadlineMs: 400 })
    await eventually(() => watching.count?.('k', { name: `gone over ${version}`, limit }), 2)
    expect(systemClock.now() - backAt).toBeLessThan(2_000)
    expect(events).toContain('backendFailed CONNECTION')
    await eventually(() => events.at(-1), 'breaker closed')
  })
})

describe('a start while Redis is down', () => {
  test('is not an error, and the process counts locally', async () => {
    const nobody = new Redis({ port: 1, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => 100 })
    nobody.on('error', () => {})
    nobody.connect().catch(() => {})
    const backend = fleet.current.backend(nobody, {})
    const cap = createInflightLimiter({ name: 'down', limit: 2, backend })
    const asked = await Promise.all([cap.acquire(), cap.acquire(), cap.acquire()])
    expect(asked.filter((permit) => permit !== undefined)).toHaveLength(2)
    for (const permit of asked) permit?.release()
    expect(await cap.count()).toBe(0)
    await backend.close?.()
    nobody.disconnect()
  })
})

describe('a stalled server', () => {
  test('delays no request beyond the deadline, and late permits are released', async () => {
    const backend = await fleet.current.member({ deadlineMs: 100, observers: observers() })
    const other = await fleet.current.member({ deadlineMs: 3_000, leaseMs: 10_000 })
    const cap = createInflightLimiter({ name: 'still', limit: 500, backend })
    const others = createInflightLimiter({ name: 'still', limit: 500, backend: other })
    await cap.count('k')
    redis.server.pause()
    const requestedAt = systemClock.now()
    const permits = await Promise.all([1, 2].map(() => cap.acquire('k')))
    expect(systemClock.now() - requestedAt).toBeLessThan(1_000)
    // a call that is late because this process was stalled is excused, once
    while (!events.includes('backendFailed LATE')) permits.push(await cap.acquire('k'))
    expect(permits).not.toContain(undefined)
    redis.server.resume()
    await eventually(() => others.count('k'), permits.length)
    for (const permit of permits) permit?.release()
    await eventually(() => others.count('k'), 0)
  })

  test('lets a backend close within its deadline', async () => {
    const backend = await fleet.current.member({ deadlineMs: 200 })
    const cap = createInflightLimiter({ name: 'closing', limit: 5, backend })
    const permit = await cap.acquire('k')
    redis.server.pause()
    const asked = cap.acquire('k')
    const closedAt = systemClock.now()
    await backend.close?.()
    expect(systemClock.now() - closedAt).toBeLessThan(1_000)
    expect(await asked).toBeDefined()
    redis.server.resume()
    permit?.release()
  })
})

describe('a server without free memory', () => {
  test('is reported with its error code, and still accepts releases', async () => {
    const admin = await fleet.current.client()
    const backend = await fleet.current.member({ deadlineMs: 15_000, leaseMs: 60_000, observers: observers() })
    const cap = createInflightLimiter({ name: 'full', limit: 5, backend })
    const permit = await cap.acquire('k')
    await admin.config('SET', 'maxmemory', '1')
    const uncounted = await cap.acquire('k')
    expect([uncounted !== undefined, events]).toEqual([true, ['backendFailed OOM']])
    uncounted?.release()
    permit?.release()
    await eventually(() => admin.exists('sluice:{k}:default/full/inflight@1'), 0)
    await admin.config('SET', 'maxmemory', '0')
  })
})

describe('a heartbeat with thousands of keys', () => {
  test('renews them all, and does not delay other requests', async () => {
    const admin = await fleet.current.client()
    const backend = await fleet.current.member({ deadlineMs: 1_000, leaseMs: 4_000 })
    const cap = createInflightLimiter({ name: 'many', limit: 5, backend })
    const keys = Array.from({ length: 3_000 }, (_, index) => `many ${index}`)
    await Promise.all(keys.map((key) => cap.acquire(key)))
    await admin.flushall()
    await eventually(async () => (await admin.keys('*default/many/*')).length, keys.length)
    const other = await fleet.current.member({ deadlineMs: 1_000 })
    const counts = await Promise.all(keys.map((key) => other.count?.(key, { name: 'many', limit: 5 })))
    expect(new Set(counts)).toEqual(new Set([1]))
  })
})
