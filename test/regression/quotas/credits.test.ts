import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, quota, type StrandedLease } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const HOUR_MS = 3_600_000

let clock: FakeClock
let ledger: MemoryLedger
let opened: Quotas[]
beforeEach(() => {
  clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  ledger = new MemoryLedger(clock)
  opened = []
})
afterEach(async () => {
  for (const one of opened) await one.close()
})

function join(own: FakeClock): readonly [Quotas, Limiter] {
  const quotas = createQuotas(ledger, { clock: own, serverTime: () => clock.wall() })
  opened.push(quotas)
  const policies = [quota({ limit: 1_000, per: 'month', backend: quotas })]
  return [quotas, createLimiter({ policies, clock: own, deadlineMs: 60_000 })]
}

test.each([Number.NaN, -5, 0, 1.5, '5', undefined])(
  'a credit of %p units is rejected and changes nothing',
  async (units) => {
    const [quotas] = join(clock)
    const lease = { key: 'a', ref: '1:1', period: '2026-11-01', units, at: 0 } as StrandedLease
    await expect(quotas.credit(lease)).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
    expect(await quotas.balance('a')).toMatchObject({ used: 0, stranded: 0, left: 1_000 })
  },
)

test('a credit of a lease gives back no units of other leases, even if the account no longer remembers it', async () => {
  // the clocks of two processes stand still, so their leases end without a report
  for (let processes = 0; processes < 2; processes++) await join(new FakeClock())[1].take('a', 5)
  clock.stepWall(HOUR_MS)
  const [quotas] = join(clock)
  await quotas.balance('a')
  clock.stepWall(2 * HOUR_MS)
  const [first, second] = await quotas.stranded()
  expect(await quotas.credit({ ...first, units: 1_000 })).toBe(first.units)
  expect((await quotas.balance('a')).stranded).toBe(second.units)
  expect(await quotas.credit({ ...first, ref: 'unknown' })).toBe(0)
  expect(await quotas.credit(second)).toBe(second.units)
  expect(await quotas.credit(second)).toBe(0)
  expect(await quotas.stranded()).toEqual([])
})
