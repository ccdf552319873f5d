import { expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type Decision } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { ServerBackend, ServerClock } from '../../limiter/laws/storages.ts'
import { PlanSite } from '../../plans/plan-site.ts'
import { eventually } from '../../services/eventually.ts'
import { startRedis } from '../../services/redis/redis-server.ts'

const LIMIT = 20

function plansOf(free: AlgorithmName, windowMs = 10_000) {
  return {
    free: { algorithm: free, limit: LIMIT, windowMs },
    pro: { algorithm: 'token-bucket', limit: LIMIT, windowMs: 3_600_000 },
  } as const
}

const windows: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'sliding-log']

// a process that knows the usage under one plan does not know what has ended under the other
test.each(windows)('usage that has ended in a %s is not restored after a restart of a process', async (free) => {
  const clock = new FakeClock({ nowMs: 1_000_000 })
  const server = new ServerBackend(clock, new ServerClock(clock, 50_000))
  const before = new PlanSite(plansOf(free), clock, server)
  await before.take('pro', 8)
  clock.advance(21_000)
  await before.take('pro')
  before.close()
  const after = new PlanSite(plansOf(free), clock, server)
  expect((await after.take('free')).binding).toMatchObject({ allowed: true, remaining: LIMIT - 2 })
  after.close()
})

test.each(windows)('Redis without its data receives the usage under another plan, with %s', async (free) => {
  const server = await startRedis()
  const client = createRedis(server.url, { retryStrategy: () => 20 })
  const backend = redisBackend(client)
  const other = createLimiter({
    policies: [{ name: 'other', limit: 10_000, window: '1h' }],
    backend,
    deadlineMs: 2_000,
  })
  const counted = (taken: Decision): boolean => taken.counted
  const connected = (): Promise<boolean> => Promise.resolve(other.take('key', 1)).then(counted)
  const site = new PlanSite(plansOf(free, 3_600_000), undefined, backend)
  await eventually(connected, { what: 'a connection' })
  await site.take('pro', 8)
  await server.kill()
  await server.start()
  await eventually(connected, { what: 'a connection again' })
  expect((await site.take('free')).binding.remaining).toBe(LIMIT - 9)
  site.close()
  other.close()
  await backend.close?.()
  client.disconnect()
  await server.stop()
})
