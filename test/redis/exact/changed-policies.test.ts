import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { ownPrefix } from './own-prefix.ts'

const redis = redisClientForTests()

type Shape = Omit<PolicyInput, 'name'>

/** Processes of several releases, each with a different version of a policy. */
function releases(clock: FakeClock) {
  const prefix = ownPrefix()
  return (policy: Shape) => {
    const backend = redisBackend(redis.client, { prefix, clock, serverTime: () => clock.now() })
    const limiter = createLimiter({ policies: [{ name: 'quota', ...policy }], backend, clock, deadlineMs: 5_000 })
    return {
      take: async (units: number) => limiter.take('key', units),
      left: async () => (await limiter.peek('key', 0)).binding.remaining,
    }
  }
}

const algorithms: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra']

describe.each(algorithms)('a limit with %s that another release changed', (algorithm) => {
  test.each([
    [20, 100, 20],
    [100, 20, 80],
    [100, 20, 10],
  ])('from %d to %d keeps the usage: %d', async (before, after, used) => {
    const release = releases(new FakeClock({ nowMs: 1_000 }))
    expect((await release({ algorithm, limit: before, window: '1h' }).take(used)).allowed).toBe(true)
    // gcra keeps the used fraction of the limit, the others keep the units
    const kept = algorithm === 'gcra' ? (used * after) / before : used
    expect(await release({ algorithm, limit: after, window: '1h' }).left()).toBe(Math.max(0, after - kept))
  })
})

test('a bucket with a changed rate keeps its current usage', async () => {
  const release = releases(new FakeClock({ nowMs: 1_000 }))
  const before = await release({ algorithm: 'token-bucket', limit: 50, window: '1h' }).take(30)
  expect(before.allowed).toBe(true)
  expect(await release({ algorithm: 'token-bucket', limit: 50, window: '1m' }).left()).toBe(20)
})

test.each<[string, Shape, Shape]>([
  [
    'a changed window length',
    { algorithm: 'fixed-window', limit: 50, window: '1m' },
    { algorithm: 'fixed-window', limit: 50, window: '1h' },
  ],
  [
    'a changed window length of sliding windows',
    { algorithm: 'sliding-window', limit: 50, window: '1h' },
    { algorithm: 'sliding-window', limit: 50, window: '1m' },
  ],
  [
    'a changed window length of a log',
    { algorithm: 'sliding-log', limit: 50, window: '1h' },
    { algorithm: 'sliding-log', limit: 50, window: '1m' },
  ],
])('%s is counted separately', async (_what, before, after) => {
  const release = releases(new FakeClock({ nowMs: 1_000 }))
  expect((await release(before).take(30)).allowed).toBe(true)
  expect(await release(after).left()).toBe(50)
  expect(await release(before).left()).toBe(20)
})

test('changed slices and algorithms are counted separately, and no call fails', async () => {
  const release = releases(new FakeClock({ nowMs: 1_000 }))
  expect((await release({ limit: 50, window: '1h', algorithm: 'sliding-window', slices: 4 }).take(30)).source).toBe(
    'redis',
  )
  const other = await release({ limit: 50, window: '1h', algorithm: 'sliding-window', slices: 6 }).take(1)
  expect([other.source, other.binding.remaining]).toEqual(['redis', 49])
  expect(await release({ limit: 50, window: '1h', algorithm: 'fixed-window' }).left()).toBe(50)
})
