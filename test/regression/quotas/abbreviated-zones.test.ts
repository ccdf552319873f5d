import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
/** The abbreviations that this runtime takes for time zones, as it does with names of IANA. */
const ABBREVIATIONS = LETTERS.flatMap((one) => LETTERS.flatMap((two) => [`${one}${two}T`, `${one}${two}t`])).filter(
  (timeZone) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone })
    } catch {
      return false
    }
  },
)

test('a quota counts each key, whatever abbreviation the function returns for a zone', async () => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2, 12) })
  const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  const policy = quota({ limit: 1, per: 'day', timeZone: (key) => key, maxHoldMs: '1m', backend: quotas })
  const limiter = createLimiter({ policies: [policy], clock, deadlineMs: 60_000, onBackendError: 'allow' })
  expect(ABBREVIATIONS).toContain('EST')
  for (const key of ABBREVIATIONS) {
    const first = await limiter.take(key)
    expect([key, first.allowed, first.counted]).toEqual([key, true, true])
    expect([key, (await limiter.take(key)).allowed]).toEqual([key, false])
  }
  limiter.close()
  await quotas.close()
})

test.each(['BST', 'IST', 'pst'])('a quota in the zone %s is rejected at start-up', (timeZone) => {
  const clock = new FakeClock()
  const quotas = createQuotas(new MemoryLedger(clock), { clock })
  expect(() => quota({ limit: 1, per: 'day', timeZone, backend: quotas })).toThrow('expected an IANA time zone')
})
