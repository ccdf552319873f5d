import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { quota, waterfall } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { HoldFleet, MINUTE_MS } from './hold-fleet.ts'

test.each([
  ['with holds', '8m'],
  ['without holds', undefined],
] as const)('a waterfall shares its part with a limiter that holds units: a part %s', async (_, maxHoldMs) => {
  const all = new HoldFleet(new MemoryLedger(new FakeClock()), 'shared')
  const quotas = all.join()
  const limiter = all.limiter(quotas)
  const part = quota({ name: 'tokens', limit: 100, per: 'month', maxHoldMs, backend: quotas })
  const plan = waterfall([part], { scope: 'shared' })
  const hold = await limiter.hold('a', { reserve: 70, maxMs: '4m' })
  const denied = await plan.take('a', 31)
  expect(denied.allowed).toBe(false)
  expect(denied.remaining).toBe(30)
  // the hold is over then
  expect(denied.retryAfterMs).toBe(5 * MINUTE_MS)
  expect((await plan.take('a', 30)).allowed).toBe(true)
  await hold.settle(20)
  expect(await quotas.balance('a', all.names)).toMatchObject({ used: 50, held: 0, left: 50 })
  plan.close()
  await all.close()
})
