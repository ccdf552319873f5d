import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const DAY_MS = 86_400_000

test('a higher cost that is known after midnight is charged to the day of its leased take', async () => {
  const midnight = Date.UTC(2026, 10, 3)
  const clock = new FakeClock({ wallMs: midnight - 2_000 })
  const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  const limiter = createLimiter({
    policies: [quota({ limit: 1_000, per: 'day', backend: quotas })],
    clock,
    deadlineMs: 60_000,
  })
  const taken = await limiter.take('a', 10)
  for (let seconds = 0; seconds < 20; seconds++) {
    clock.advance(1_000)
    for (let turns = 0; turns < 10; turns++) await new Promise<void>((resolve) => afterThisTurn(resolve))
  }
  await limiter.charge('a', 5, taken)
  await quotas.idle()
  const days = await quotas.usage('a', { from: midnight - DAY_MS, to: midnight + DAY_MS })
  expect(days.map(({ used }) => used)).toEqual([15])
  limiter.close()
  await quotas.close()
})
