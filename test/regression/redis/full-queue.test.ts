import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

let server: RedisServer
let client: ReturnType<typeof createRedis>

beforeAll(async () => {
  server = await startRedis()
  client = createRedis({ port: server.port })
})
afterAll(async () => {
  await client.quit()
  await server.stop()
})

async function writes(): Promise<number> {
  const [, calls] = /cmdstat_set:calls=(\d+)/.exec(await client.info('commandstats')) ?? []
  return Number(calls)
}

test('a denied caller that books no turn writes nothing', async () => {
  const clock = new FakeClock({ nowMs: Date.now() })
  const backend = redisBackend(client, { clock, serverTime: () => clock.now() })
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
