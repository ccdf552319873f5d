import type { QuotaState } from '../../../packages/quotas/src/account/quota-state.ts'

const NOVEMBER = Date.UTC(2026, 10, 1)
const DECEMBER = Date.UTC(2026, 11, 1)

/** A quota state that contains every possible kind of entry. */
export const QUOTA_STATE: QuotaState = {
  periods: [
    {
      label: '2026-11-01',
      startsAt: NOVEMBER,
      endsAt: DECEMBER,
      limit: 999_999_999_999_999,
      carried: 20,
      used: 40,
      stranded: 5,
      toppedUp: 3,
      noticed: 80,
    },
  ],
  topUps: [
    { token: 'invoice-1', units: 5, left: 2, endsAt: null },
    { token: 'invoice-2', units: 5, left: 5, endsAt: DECEMBER },
  ],
  leases: [
    {
      owner: 2 ** 48 - 1,
      period: '2026-11-01',
      units: 10,
      endsAt: NOVEMBER + 10_500.5,
      seq: 3,
      base: 2,
      charged: 4,
      settled: 5,
    },
  ],
  reservations: [{ id: 'one', period: '2026-11-01', units: 7, endsAt: NOVEMBER + 60_000, madeAt: NOVEMBER + 0.5 }],
  holds: [{ endsAt: NOVEMBER + 120_000, units: 8 }],
  writers: [{ writer: 'AAAAAAAAAAAA', seq: 9, at: NOVEMBER + 0.25, charged: { '2026-11-01': 40 } }],
  forgottenAt: NOVEMBER - 0.25,
}
