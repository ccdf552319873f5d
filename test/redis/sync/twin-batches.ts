import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { MemorySyncLedger, type ReportedTakes } from '@sluice/fleet/sync'
import { memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { type Counter, compilePolicy, PolicyVariants } from '@sluice/limiter-core/backend'
import { redisSyncLedger } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

const inputs: readonly PolicyInput[] = [
  { name: 'p', limit: 50, window: '10s', algorithm: 'fixed-window' },
  { name: 'p', limit: 50, window: '10s', algorithm: 'sliding-window' },
  { name: 'p', limit: 50, window: '10s', algorithm: 'sliding-window', slices: 7 },
  { name: 'p', limit: 50, window: '10s', algorithm: 'token-bucket', burst: 20 },
  { name: 'p', limit: 50, window: '10s', algorithm: 'gcra', burst: 20 },
]

interface Batches {
  readonly takes: number
  /** Maximum number of keys in a batch. */
  readonly most: number
}

/** Creates tests that compare the Redis script with the in-memory ledger, by batches with the given total of takes. */
export function compareTwins(batches: Batches): void {
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

  test.each(inputs)(
    'batches of $algorithm, slices $slices, leave identical numbers in Redis and in memory',
    async (input) => {
      expect.hasAssertions()
      await eachSeed(1, (random) => sendToTwins(client, input, random, batches))
    },
    600_000,
  )
}

/** Sends the same batches to both ledgers, until the given total of takes. */
async function sendToTwins(
  client: Redis,
  input: PolicyInput,
  random: SeededRandom,
  { takes, most }: Batches,
): Promise<void> {
  const clock = new FakeClock({ nowMs: 1_000_000 })
  const policy = compilePolicy(input, 'sliding-window')
  const counter = memoryBackend().open(new PolicyVariants([policy]).compile(policy), `twins/p/${input.algorithm}@1`)
  const redis = redisSyncLedger(client, { prefix: ownPrefix(), clock, serverTime: () => clock.now() })
  const memory = new MemorySyncLedger(clock).join()
  let number = 0
  for (let sent = 0; sent < takes; ) {
    // sometimes as if earlier batches were lost
    if (random.whole(3) > 0) number += random.whole(20) === 0 ? 2 : 1
    const reported = randomTakes(random, counter, clock.now(), most)
    const afterLoss = random.whole(10) === 0
    const batch = { partition: 0, number: Math.max(1, number), takes: reported, afterLoss }
    const [inRedis, inMemory] = await Promise.all([redis.exchange(batch, 1e9), memory.exchange(batch, 1e9)])
    expect(inRedis).toEqual(inMemory)
    for (const one of reported) sent += one.takes.length / 2
    clock.advance(random.pick([0, 1, 100, 1_000, 7_000]))
  }
  await redis.close?.()
}

function randomTakes(random: SeededRandom, counter: Counter, now: number, most: number): ReportedTakes[] {
  return Array.from({ length: random.whole(most) }, () => ({
    key: `key ${random.whole(most)}`,
    counter,
    takes: Array.from({ length: random.whole(3) }, () => [now - random.whole(12_000), random.whole(12) - 3]).flat(),
    known: random.whole(5) === 0 ? { used: 1 + random.whole(20), resetAfterMs: 1 + random.whole(10_000) } : undefined,
  }))
}
