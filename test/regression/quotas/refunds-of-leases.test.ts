import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

test('a refund gives back units that this process has spent from a lease and not reported yet', async () => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  const ledger = new MemoryLedger(clock)
  const join = (): readonly [Quotas, Limiter] => {
    const quotas = createQuotas(ledger, { clock, serverTime: () => clock.wall() })
    const policies = [quota({ limit: 1_000, per: 'month', backend: quotas })]
    return [quotas, createLimiter({ policies, clock, deadlineMs: 60_000 })]
  }
  const [quotas, limiter] = join()
  for (let takes = 0; takes < 15; takes++) {
    await limiter.take('a')
    await quotas.idle()
  }
  expect(await quotas.refund('a', 15, { token: 'refund' })).toBe(true)
  await quotas.close()
  const [reader] = join()
  expect(await reader.balance('a')).toMatchObject({ used: 0, onLease: 0, left: 1_000 })
  await reader.close()
})
