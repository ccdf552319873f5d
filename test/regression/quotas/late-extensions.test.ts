import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../../quotas/faulty-quota-table.ts'

// an extension whose answer is late must be undone before the hold is settled, not after it

const NAMES = { policy: 'tokens', scope: 'late' } as const

let clock: FakeClock
let fault: 'none' | 'slow' | 'lost'
let quotas: Quotas
let limiter: Limiter

beforeEach(() => {
  clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 1) })
  fault = 'none'
  const after = (call: string): Promise<void> | void => {
    if (call !== 'commit' || fault === 'none') return
    if (fault === 'slow') return new Promise((resolve) => void clock.after(80, resolve))
    fault = 'none'
    throw new Error('connection closed')
  }
  const table = new FaultyQuotaTable(new MemoryQuotaTable(() => clock.wall()), { after })
  quotas = createQuotas(quotasOnly(table), { clock })
  const policies = [quota({ name: NAMES.policy, limit: 200, per: 'month', maxHoldMs: '10m', backend: quotas })]
  limiter = createLimiter({ policies, scope: NAMES.scope, clock, deadlineMs: 50, onBackendError: 'deny' })
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

test.each(['slow', 'lost'] as const)(
  'a hold settled at once after an extension with a %s answer leaves nothing held',
  async (kind) => {
    const hold = await pass(limiter.hold('a', { reserve: 60 }), 10)
    await pass(undefined, 120_000)
    const other = await pass(limiter.hold('a', { reserve: 50 }), 10)
    fault = kind
    const extended = hold.extend(30)
    const settled = hold.settle(25)
    expect(await pass(extended, 60)).toBe(false)
    fault = 'none'
    await pass(settled, 500)
    for (let peeks = 0; peeks < 3; peeks++) await pass(limiter.peek('a'), 1_000)
    expect(await state()).toEqual([25, 50])
    // the hold of the other request is held until its own end
    await pass(undefined, 490_000)
    expect(await state()).toEqual([25, 50])
    await pass(other.settle(50), 10)
    expect(await state()).toEqual([75, 0])
  },
)
