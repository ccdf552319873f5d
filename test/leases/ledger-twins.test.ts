import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseRequest, MemoryLedger } from '@sluice/fleet/leases'
import { type CompiledPolicy, type Counter, memoryBackend } from '@sluice/limiter-core'
import { algorithms } from '@sluice/limiter-core/backend'
import { redisLeaseLedger } from '@sluice/redis'
import { contractPolicies, eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

const RUNS = 12
const ASKS = 80
const terms = { fraction: 0.1, leaseMs: 2_000 }
const BUCKETS = ['token-bucket', 'gcra']

let server: RedisServer
let client: Redis
let compared = 0

beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port)
  await once(client, 'ready')
})

afterAll(async () => {
  process.stdout.write(`${compared} answers of both ledgers, no difference\n`)
  client.disconnect()
  await server.stop()
})

/** A random request of an owner that forgets its state: late, repeated and false requests are among them. */
function randomAsk(random: SeededRandom, counter: Counter, seqs: number[]): LeaseRequest {
  const { compiled } = counter
  const owner = random.whole(3)
  const stale = random.whole(8) === 0
  if (!stale) seqs[owner]++
  const few = (): number => random.pick([0, 0, 1, random.whole(compiled.capacity) + 1, compiled.capacity])
  const demand = random.pick([0, 1, random.whole(compiled.capacity)])
  return {
    key: random.pick(['a', 'b']),
    counter,
    owner: owner + 1,
    seq: seqs[owner] - (stale ? random.whole(2) : 0),
    base: random.pick([0, Math.max(0, seqs[owner] - 1)]),
    spent: few() % 7,
    keep: few() % 9,
    want: demand + random.whole(compiled.capacity + 1),
    demand,
    minimum: random.pick([1, 1, Math.max(1, demand)]),
    need: random.pick([0, 1, demand, compiled.capacity]),
    known:
      random.whole(10) === 0
        ? { used: 1 + few(), resetAfterMs: 1 + random.whole(compiled.policy.windowMs) }
        : undefined,
  }
}

async function compare(compiled: CompiledPolicy, random: SeededRandom): Promise<void> {
  const clock = new FakeClock({ nowMs: 1_000 })
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const ledger = redisLeaseLedger(client, { ...terms, prefix: randomUUID(), clock, serverTime: () => clock.now() })
  const counter = memory.open(compiled, `twins/${compiled.policy.name}/${compiled.policy.algorithm}@1`)
  const seqs = [5, 5, 5]
  for (let asked = 0; asked < ASKS; asked++) {
    const { windowMs } = compiled.policy
    clock.advance(random.pick([0, 1, 300, 2_000, 2_100, 5_000, random.whole(windowMs), windowMs, windowMs * 2]))
    const asks = Array.from({ length: 1 + random.whole(4) }, () => randomAsk(random, counter, seqs))
    const [got, expected] = [await ledger.request(asks, clock.now() + 50), memory.request(asks)]
    for (const [index, grant] of expected.entries()) {
      compared++
      const [one, other] = [rounded(compiled, got[index] as LeaseGrant), rounded(compiled, grant)]
      if (isDeepStrictEqual(one, other)) continue
      const about = `ask ${asked}.${index} ${JSON.stringify({ ...asks[index], counter: compiled.policy })}`
      expect({ about, ...one }).toEqual({ about, ...other })
    }
  }
}

// sums of doubles differ by 1 µs at most, and distant times by the precision of a double
function rounded({ policy }: CompiledPolicy, grant: LeaseGrant): LeaseGrant {
  if (!BUCKETS.includes(policy.algorithm)) return grant
  return { ...grant, resetAfterMs: Math.round(grant.resetAfterMs * 100) / 100 }
}

describe('the ledger in Redis gives the same answers as the ledger in memory', () => {
  const names = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] as const
  const policies = names.flatMap((name) => contractPolicies(name).map((policy) => algorithms[name].compile(policy)))

  test.each(policies.map((compiled) => [compiled.policy.name, compiled] as const))('%s', async (_name, compiled) => {
    await eachSeed(RUNS, (random) => compare(compiled, random))
  })
})
