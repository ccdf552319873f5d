import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const NAMES = { policy: 'calls', scope: 'time' } as const
const CALENDAR_END = Date.UTC(275_000, 0)

/** Resolves with what happened to a promise after some turns. */
async function outcomeOf(asked: Promise<unknown>): Promise<unknown> {
  let outcome: unknown = 'pending'
  asked.then(
    () => (outcome = 'resolved'),
    () => (outcome = 'rejected'),
  )
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => afterThisTurn(() => resolve(undefined)))
  return outcome
}

test.each([Number.NaN, Number.POSITIVE_INFINITY, CALENDAR_END * 10])(
  'calls reject while the time of the database is %d, and succeed afterwards',
  async (wrong) => {
    const clock = new FakeClock()
    let time = wrong
    const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => time })
    createLimiter({
      policies: [quota({ name: NAMES.policy, limit: 5, per: 'day', backend: quotas })],
      clock,
      scope: NAMES.scope,
    })
    expect(await outcomeOf(quotas.balance('a', NAMES))).toBe('rejected')
    expect(await outcomeOf(quotas.reserve('a', 1, NAMES))).toBe('rejected')
    time = clock.wall()
    expect(await outcomeOf(quotas.balance('a', NAMES))).toBe('resolved')
    await quotas.close()
  },
)
