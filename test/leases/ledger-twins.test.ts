import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import {
  algorithms,
  type LeaseAsk,
  type LeaseGrant,
  MemoryLedger,
  memoryBackend,
  type Step,
} from '@sluice/limiter-core'
import { redisLedger } from '@sluice/redis'
import { contractPolicies, eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../services/redis-server.ts'

jest.setTimeout(60_000)

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

/** An ask of an owner that remembers little: late ones, repeated ones and lies among them. */
function randomAsk(random: SeededRandom, step: Step, seqs: number[]): LeaseAsk {
  const owner = random.whole(3)
  const stale = random.whole(8) === 0
  if (!stale) seqs[owner]++
  const few = (): number => random.pick([0, 0, 1, random.whole(step.capacity) + 1, step.capacity])
  const demand = random.pick([0, 1, random.whole(step.capacity)])
  return {
    key: random.pick(['a', 'b']),
    step,
    count: `twins/${step.policy.name}/${step.policy.algorithm}@1`,
    owner: owner + 1,
    seq: seqs[owner] - (stale ? random.whole(2) : 0),
    base: random.pick([0, Math.max(0, seqs[owner] - 1)]),
    spent: few() % 7,
    keep: few() % 9,
    want: demand + random.whole(step.capacity + 1),
    demand,
    minimum: random.pick([1, 1, Math.max(1, demand)]),
    need: random.pick([0, 1, demand, step.capacity]),
    known:
      random.whole(10) === 0 ? { used: 1 + few(), resetAfterMs: 1 + random.whole(step.policy.windowMs) } : undefined,
  }
}

async function compare(step: Step, random: SeededRandom): Promise<void> {
  const clock = new FakeClock({ nowMs: 1_000 })
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const ledger = redisLedger(client, { ...terms, prefix: randomUUID(), clock, serverTime: () => clock.now() })
  const seqs = [5, 5, 5]
  for (let asked = 0; asked < ASKS; asked++) {
    const { windowMs } = step.policy
    clock.advance(random.pick([0, 1, 300, 2_000, 2_100, 5_000, random.whole(windowMs), windowMs, windowMs * 2]))
    const asks = Array.from({ length: 1 + random.whole(4) }, () => randomAsk(random, step, seqs))
    const [got, expected] = [await ledger.ask(asks, clock.now() + 50), memory.ask(asks)]
    for (const [index, grant] of expected.entries()) {
      const about = `ask ${asked}.${index} ${JSON.stringify({ ...asks[index], step: step.policy })}`
      expect({ about, ...rounded(step, got[index] as LeaseGrant) }).toEqual({ about, ...rounded(step, grant) })
      compared++
    }
  }
}

// what counts in doubles is off by 1 µs at most, and far from now by what a double can tell apart
function rounded({ policy }: Step, grant: LeaseGrant): LeaseGrant {
  if (!BUCKETS.includes(policy.algorithm)) return grant
  return { ...grant, resetAfterMs: Math.round(grant.resetAfterMs * 100) / 100 }
}

describe('the ledger in Redis answers as the one in memory', () => {
  const names = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] as const
  const steps = names.flatMap((name) => contractPolicies(name).map((policy) => algorithms[name].compile(policy)))

  test.each(steps.map((step) => [step.policy.name, step] as const))('%s', async (_name, step) => {
    await eachSeed(RUNS, (random) => compare(step, random))
  })
})
