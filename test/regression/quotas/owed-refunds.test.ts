import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { afterThisTurn, compilePolicy, countName, PolicyVariants } from '@sluice/limiter-core/backend'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../../quotas/faults/faulty-quota-table.ts'

const NAMES = { policy: 'calls', scope: 'owed' } as const

let clock: FakeClock
let fails: boolean
let quotas: Quotas
let limiter: Limiter

beforeEach(() => {
  clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  fails = false
  const table = new MemoryQuotaTable(() => clock.wall())
  const before = (call: string): void => {
    if (call === 'commit' && fails) throw new Error('the database is down')
  }
  quotas = createQuotas(quotasOnly(new FaultyQuotaTable(table, { before })), { clock, waitMs: '1h' })
  const policies = [quota({ name: NAMES.policy, limit: 50, per: 'month', backend: quotas })]
  limiter = createLimiter({ policies, scope: NAMES.scope, clock, deadlineMs: 60_000, onBackendError: 'allow' })
})
afterEach(() => quotas.close())

async function pass(ms: number): Promise<void> {
  clock.advance(ms)
  for (let turns = 0; turns < 20; turns++) await new Promise<void>((resolve) => afterThisTurn(resolve))
}

test('a refund of owed units is not written before their charge', async () => {
  fails = true
  const taken = await limiter.take('a', 10)
  expect(taken).toMatchObject({ allowed: true, counted: false })
  // the charge is sent and fails, so that its outcome is unknown when the refund is added
  await pass(0)
  await limiter.charge('a', -10, taken)
  fails = false
  for (let seconds = 0; seconds < 5; seconds++) await pass(1_000)
  await quotas.idle()
  expect(await quotas.balance('a', NAMES)).toMatchObject({ used: 0, left: 50 })
})

test('a refund whose time is in another hour than that of its charge is written after it', async () => {
  fails = true
  const policy = compilePolicy(quota({ name: NAMES.policy, limit: 50, per: 'month', backend: quotas }))
  const variants = new PolicyVariants([policy])
  const counter = quotas.open(variants.compile(policy), countName(NAMES.scope, policy, variants.layoutName))
  const charge = { key: 'a', counter, cost: 10 }
  quotas.passed?.([charge], clock.now())
  await pass(0)
  quotas.passed?.([{ ...charge, cost: -10 }], clock.now() + 3_600_000)
  fails = false
  for (let seconds = 0; seconds < 5; seconds++) await pass(1_000)
  await quotas.idle()
  expect(await quotas.balance('a', NAMES)).toMatchObject({ used: 0, left: 50 })
})
