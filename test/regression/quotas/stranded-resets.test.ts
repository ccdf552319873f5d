import { expect, test } from '@jest/globals'
import { requestLease, settleLeases } from '../../../packages/quotas/src/account/account-leases.ts'
import { QuotaAccount } from '../../../packages/quotas/src/account/quota-account.ts'
import { emptyState } from '../../../packages/quotas/src/account/quota-state.ts'
import { CalendarPeriods } from '../../../packages/quotas/src/calendar/calendar-periods.ts'
import { resetAccount } from '../../../packages/quotas/src/quota-take.ts'

const MINUTE_MS = 60_000
const LEASES = { leaseMs: 10_000, fraction: 0.1 }

test('a late report of a lease that was reset gives back no units of other leases', () => {
  const state = emptyState()
  const terms = { periods: new CalendarPeriods({ per: 'month', timeZone: 'UTC' }), carryOver: 0, thresholds: [80, 100] }
  const opened = (minutes: number): QuotaAccount => {
    const account = new QuotaAccount(state, terms, Date.UTC(2026, 10, 2) + minutes * MINUTE_MS)
    settleLeases(account)
    return account.open(100)
  }
  const lease = { key: 'a', counter: undefined as never, seq: 1, base: 0, spent: 0, keep: 0, minimum: 1, need: 1 }
  requestLease(opened(0), { ...lease, owner: 1, want: 7, demand: 7 }, LEASES)
  const reset = opened(1)
  expect(reset.current.stranded).toBe(7)
  resetAccount(reset)
  expect(reset.current.stranded).toBe(0)
  // the lease is no longer listed as one whose units may be given back
  expect(reset.journal.entries.map(({ ref, units }) => [ref, units])).toEqual([
    ['1:1', 7],
    ['1:1', -7],
  ])
  requestLease(opened(2), { ...lease, owner: 2, want: 5, demand: 5 }, LEASES)
  const late = opened(3)
  expect(late.current.stranded).toBe(5)
  requestLease(late, { ...lease, owner: 1, seq: 2, base: 1, spent: 3, want: 0, demand: 0 }, LEASES)
  expect(late.current).toMatchObject({ used: 3, stranded: 5 })
})
