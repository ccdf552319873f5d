import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../faulty-quota-table.ts'
import { NOVEMBER } from './hold-fleet.ts'

const NAMES = { policy: 'tokens', scope: 'late' } as const
const DEADLINE_MS = 50
const DELAY_MS = 80

let clock: FakeClock
let isSlow: boolean
let quotas: Quotas
let limiter: Limiter

beforeEach(() => {
  clock = new FakeClock({ wallMs: NOVEMBER })
  isSlow = false
  const after = (call: string): Promise<void> | void => {
    if (call === 'commit' && isSlow) return new Promise((resolve) => void clock.after(DELAY_MS, resolve))
  }
  const table = new FaultyQuotaTable(new MemoryQuotaTable(() => clock.wall()), { after })
  quotas = createQuotas(quotasOnly(table), { clock })
  const policies = [quota({ name: NAMES.policy, limit: 100, per: 'month', maxHoldMs: '10m', backend: quotas })]
  limiter = createLimiter({ policies, scope: NAMES.scope, clock, deadlineMs: DEADLINE_MS, onBackendError: 'deny' })
})
afterEach(() => quotas.close())

/** Waits for a promise while 10 ms pass in each turn. */
async function pass<T>(asked: T | PromiseLike<T>, ms: number): Promise<T> {
  for (let passed = 0; passed < ms; passed += 10) {
    for (let turns = 0; turns < 5; turns++) await new Promise<void>((resolve) => afterThisTurn(resolve))
    clock.advance(10)
  }
  return asked
}

async function state(): Promise<readonly number[]> {
  const { used, held } = await quotas.balance('a', NAMES)
  return [used, held]
}

test('a hold whose answer is too late is denied, and its units return at once', async () => {
  isSlow = true
  const hold = await pass(limiter.hold('a', { reserve: 60 }), 100)
  isSlow = false
  await pass(undefined, 200)
  expect([hold.allowed, await state()]).toEqual([false, [0, 0]])
})

test('a hold whose extension is too late stays as it was', async () => {
  const hold = await pass(limiter.hold('a', { reserve: 60 }), 10)
  await pass(undefined, 60_000)
  isSlow = true
  expect(await pass(hold.extend(30), 100)).toBe(false)
  isSlow = false
  await pass(undefined, 200)
  expect(await state()).toEqual([0, 60])
  await pass(hold.settle(25), 10)
  expect(await state()).toEqual([25, 0])
})

test('a settlement whose answer is late is spent once', async () => {
  const hold = await pass(limiter.hold('a', { reserve: 60 }), 10)
  isSlow = true
  await pass(hold.settle(25), 100)
  isSlow = false
  for (let peeks = 0; peeks < 4; peeks++) await pass(limiter.peek('a'), 1_000)
  expect(await state()).toEqual([25, 0])
})

test('an adjustment that is repeated with its idempotency key settles once', async () => {
  const hold = await pass(limiter.hold('a', { reserve: 60 }), 10)
  const adjustAll = quotas.adjustAll.bind(quotas)
  let calls = 0
  // sends each adjustment twice, like a caller that has not received the first answer
  quotas.adjustAll = (...asked) => {
    calls++
    void adjustAll(...asked)
    return adjustAll(...asked)
  }
  await pass(hold.settle(25), 10)
  expect([calls, await state()]).toEqual([1, [25, 0]])
})
