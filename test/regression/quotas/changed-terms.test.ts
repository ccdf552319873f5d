import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const DAY_MS = 86_400_000

test('a changed calendar applies to keys that this process has used before', async () => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2, 12) })
  const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  const limiterOf = (carryOver: number) =>
    createLimiter({ policies: [quota({ limit: 10, per: 'day', carryOver, backend: quotas })], clock })
  const before = limiterOf(0)
  await before.take('a', 4)
  before.close()
  const after = limiterOf(5)
  clock.stepWall(DAY_MS)
  await after.take('a', 1)
  expect(await quotas.balance('a')).toMatchObject({ carried: 5, used: 1, left: 14 })
  after.close()
  await quotas.close()
})
