import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { type Counter, compilePolicy, PolicyVariants } from '@sluice/limiter-core/backend'
import { MemorySyncLedger, type ReportedTakes } from '@sluice/limiter-core/sync'
import { redisSyncLedger } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port)
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

const inputs: readonly PolicyInput[] = [
  { name: 'p', limit: 50, window: '10s', algorithm: 'fixed-window' },
  { name: 'p', limit: 50, window: '10s', algorithm: 'sliding-window' },
  { name: 'p', limit: 50, window: '10s', algorithm: 'sliding-window', slices: 7 },
  { name: 'p', limit: 50, window: '10s', algorithm: 'token-bucket', burst: 20 },
  { name: 'p', limit: 50, window: '10s', algorithm: 'gcra', burst: 20 },
]

describe.each(inputs)('a batch of $algorithm, slices $slices', (input) => {
  test('leaves in Redis what it leaves in memory, to the last bit: 3,000 random ones', async () => {
    await eachSeed(1, async (random) => {
      const clock = new FakeClock({ nowMs: 1_000_000 })
      const policy = compilePolicy(input, 'sliding-window')
      const counter = memoryBackend().open(new PolicyVariants([policy]).compile(policy), `twins/p/${input.algorithm}@1`)
      const redis = redisSyncLedger(client, { prefix: ownPrefix(), clock, serverTime: () => clock.now() })
      const memory = new MemorySyncLedger(clock).join()
      let number = 0
      for (let sent = 0; sent < 3_000; sent++) {
        if (random.whole(3) > 0) number++
        const batch = { partition: 0, number: Math.max(1, number), takes: randomTakes(random, counter, clock.now()) }
        const [inRedis, inMemory] = await Promise.all([redis.exchange(batch, 1e9), memory.exchange(batch, 1e9)])
        expect(inRedis).toEqual(inMemory)
        clock.advance(random.pick([0, 1, 100, 1_000, 7_000]))
      }
      await redis.close?.()
    })
  })
})

function randomTakes(random: SeededRandom, counter: Counter, now: number): ReportedTakes[] {
  return Array.from({ length: random.whole(4) }, () => ({
    key: `key ${random.whole(3)}`,
    counter,
    takes: Array.from({ length: random.whole(3) }, () => [now - random.whole(12_000), random.whole(12) - 3]).flat(),
  }))
}
