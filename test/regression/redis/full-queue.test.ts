import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { forTests } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const client = forTests(
  () => createRedis({ port: redis.server.port }),
  (one) => one.quit(),
)

async function writes(): Promise<number> {
  const [, calls] = /cmdstat_set:calls=(\d+)/.exec(await client.current.info('commandstats')) ?? []
  return Number(calls)
}

test('a denied caller that books no turn writes nothing', async () => {
  const clock = new FakeClock({ nowMs: Date.now() })
  const backend = redisBackend(client.current, { clock, serverTime: () => clock.now() })
  const policies = [{ name: 'turns', limit: 2, window: '1m', retry: 'booked' }] as const
  const limiter = createLimiter({ policies, backend, clock, deadlineMs: 20_000 })
  const taken = async (times: number): Promise<number> => {
    let allowed = 0
    for (let time = 0; time < times; time++) if ((await limiter.take('a')).allowed) allowed++
    return allowed
  }
  // two units, and the longest queue: ten limits
  expect(await taken(22)).toBe(2)
  const before = await writes()
  expect(before).toBeGreaterThanOrEqual(22)
  expect(await taken(10)).toBe(0)
  expect(await writes()).toBe(before)
  await limiter.close()
})
