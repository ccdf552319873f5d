import { expect, test } from '@jest/globals'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { type Contention, contend } from './contention.ts'
import { fairness, maxMinShares } from './fairness.ts'

const MS = 10_000

const redis = redisClientForTests()

const mixes = [
  [10, 10, 10, 10],
  [2, 8, 8, 30],
]
const works: Omit<Contention, 'tasks' | 'ms'>[] = [
  { limit: 3, holdMs: 10, retryMs: 5 },
  { limit: 12, holdMs: 10, retryMs: 5 },
  { limit: 8, holdMs: 20, retryMs: 20 },
]
const cases = works.flatMap((work) => mixes.map((tasks) => ({ ...work, tasks, ms: MS })))

test.each(cases)(
  'ten seconds of $tasks tasks per process, $limit permits, held for $holdMs ms: no process starves',
  async (work) => {
    await redis.client.flushall()
    const { permits, asks, calls } = await contend(redis.server.url, redis.client, work)
    const shares = maxMinShares(work.tasks, work.limit)
    const ofShares = permits.map((got, at) => got / shares[at])
    console.info(
      `${work.tasks} tasks, ${work.limit} places: permits ${permits}; of all ${fairness(permits).toFixed(3)}, of max-min shares ${fairness(ofShares).toFixed(3)}; ${calls} calls for ${asks} asks`,
    )
    expect(fairness(permits)).toBeGreaterThan(0.9)
    expect(fairness(ofShares)).toBeGreaterThan(0.9)
    expect(calls).toBeLessThan(asks)
  },
  60_000,
)
