import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const NOVEMBER = Date.UTC(2026, 10, 1)
const HOUR_MS = 3_600_000

test.each([
  ['too small for leases', 50],
  ['spent from leases', 5_000],
])('an adjustment without a take is recorded in the hour of now, for a quota %s', async (_, limit) => {
  const clock = new FakeClock({ wallMs: NOVEMBER + 30.5 * HOUR_MS })
  const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  const policies = [quota({ name: 'calls', limit, per: 'month', backend: quotas })]
  const limiter = createLimiter({ policies, scope: 'late', clock, deadlineMs: 60_000 })
  await limiter.charge('a', 5)
  await limiter.charge('a', -2)
  await quotas.idle()
  const range = {
    from: NOVEMBER,
    to: NOVEMBER + 30 * 24 * HOUR_MS,
    by: 'hour',
    policy: 'calls',
    scope: 'late',
  } as const
  const usage = await quotas.usage('a', range)
  expect(usage.map(({ from, used }) => [from - NOVEMBER, used])).toEqual([[30 * HOUR_MS, 3]])
  await quotas.close()
})
