import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Charge, Policy } from '@sluice/limiter-core/backend'
import { type PostgresBackend, postgresBackend } from '@sluice/postgres'
import { openedCounter, seededRandom } from '@sluice/testkit'
import type { Pool } from 'pg'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { ownSchema } from './own-schema.ts'

const second: Policy = { name: 'burst', algorithm: 'token-bucket', limit: 40, windowMs: 3_600_000 }
const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: 60, windowMs: 3_600_000 }
const KEYS = 6

const postgres = postgresForTests({ fsync: false })
let pools: readonly Pool[]
let backends: readonly PostgresBackend[]

beforeAll(async () => {
  pools = [postgres.server.pool(), postgres.server.pool(), postgres.server.pool()]
})

beforeEach(async () => {
  const schema = ownSchema()
  // small batches, so that many statements lock the same keys in different orders
  backends = pools.map((pool) => postgresBackend(pool, { schema, maxBatch: 3 }))
  await backends[0].migrate()
})

const chargeOf = (backend: PostgresBackend, policy: Policy, key: string, cost = 1): Charge => ({
  key,
  counter: openedCounter(backend, 'all', policy),
  cost,
})

async function used(policy: Policy, key: string): Promise<number> {
  const { verdicts } = await backends[0].peekAll([chargeOf(backends[0], policy, key)])
  return policy.limit - verdicts[0].remaining
}

test('a denied request of several policies and keys charges none of them, with concurrent requests of three clients', async () => {
  const random = seededRandom(7)
  const admitted = new Map<string, number>()
  const takes = Array.from({ length: 600 }, async () => {
    const backend = random.pick(backends)
    const [one, other] = [random.whole(KEYS), random.whole(KEYS)]
    const charges = [chargeOf(backend, second, `key ${one}`), chargeOf(backend, hour, `key ${other}`)]
    if (random.whole(2) === 0) charges.reverse()
    const { verdicts } = await backend.takeAll(charges)
    if (verdicts.some(({ allowed }) => !allowed)) return
    for (const { key, counter } of charges) {
      const name = `${counter.compiled.policy.name} ${key}`
      admitted.set(name, (admitted.get(name) ?? 0) + 1)
    }
  })
  await Promise.all(takes)
  for (let key = 0; key < KEYS; key++) {
    for (const policy of [second, hour]) {
      const units = admitted.get(`${policy.name} key ${key}`) ?? 0
      // the bucket drains a few units while the test runs
      expect(Math.abs((await used(policy, `key ${key}`)) - units)).toBeLessThanOrEqual(policy === second ? 1 : 0)
      expect(units).toBeLessThanOrEqual(policy.limit + 1)
    }
  }
  expect(Math.max(...admitted.values())).toBeGreaterThanOrEqual(second.limit)
})

test('an advisory policy that would deny does not prevent the others from being charged', async () => {
  const [backend] = backends
  const { verdicts } = await backend.takeAll([
    chargeOf(backend, hour, 'a'),
    { ...chargeOf(backend, second, 'a', 41), advisory: true },
  ])
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false])
  expect([await used(hour, 'a'), await used(second, 'a')]).toEqual([1, 0])
})
