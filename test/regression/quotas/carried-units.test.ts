import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, type QuotaBalance, quota } from '@sluice/quotas'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'

const DAY_MS = 86_400_000

const SHORTEST_DAYS = { day: 1, week: 7, month: 28 } as const

interface Terms {
  readonly limit: number
  readonly per: 'day' | 'week' | 'month'
  readonly timeZone: string
  readonly carryOver: number
}

/** A key under a quota, whose balance is read in each period or only when it is used. */
function account(terms: Terms, isLookedAt: boolean, wallMs: number) {
  const clock = new FakeClock({ wallMs })
  const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  const policies = [quota({ ...terms, backend: quotas })]
  const limiter = createLimiter({ policies, clock, deadlineMs: 60_000, onBackendError: 'deny' })
  return {
    take: (units: number) => limiter.take('acme', units),
    async pass(ms: number): Promise<void> {
      const step = SHORTEST_DAYS[terms.per] * DAY_MS
      for (let left = ms; left > 0; left -= step) {
        clock.advance(Math.min(left, step))
        if (isLookedAt) await quotas.balance('acme')
      }
    },
    balance: (): Promise<QuotaBalance> => quotas.balance('acme'),
    async close(): Promise<void> {
      limiter.close()
      await quotas.close()
    },
  }
}

const DAILY: Terms = { limit: 10, per: 'day', timeZone: 'UTC', carryOver: 100 }

test.each([true, false])(
  'units of unused periods are carried whether the balance was read (%s)',
  async (isLookedAt) => {
    const one = account(DAILY, isLookedAt, Date.parse('2026-03-01T00:00Z'))
    await one.take(10)
    const denied = await one.take(25)
    // the period after two unused ones has 30 units
    expect([denied.allowed, denied.retryAfterMs]).toEqual([false, 3 * DAY_MS])
    await one.pass(3 * DAY_MS - 1)
    expect((await one.take(25)).allowed).toBe(false)
    await one.pass(1)
    expect(await one.balance()).toMatchObject({ included: 10, carried: 20, left: 30 })
    expect((await one.take(25)).allowed).toBe(true)
    await one.close()
  },
)

test('units that more periods than the calendar carries would have to give never fit', async () => {
  const one = account(DAILY, false, Date.parse('2026-03-01T00:00Z'))
  expect((await one.take(111)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  await one.close()
})

const ZONES = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Auckland'] as const

function anyTerms(random: SeededRandom): Terms {
  const limit = 1 + random.whole(20)
  const per = random.pick(['day', 'week', 'month'] as const)
  return { limit, per, timeZone: random.pick(ZONES), carryOver: random.whole(8 * limit) }
}

test('random takes see the same balances and waits whether the balance was read in each period', async () => {
  await eachSeed(10, async (random) => {
    const terms = anyTerms(random)
    const start = Date.parse('2026-01-01T00:00Z') + random.whole(365) * DAY_MS
    const all = [account(terms, true, start), account(terms, false, start)]
    for (let step = 0; step < 6; step++) {
      const units = 1 + random.whole(terms.limit + terms.carryOver)
      const [looked, other] = await Promise.all(
        all.map(async (one) => {
          const { allowed, retryAfterMs } = await one.take(units)
          const { included, carried, left } = await one.balance()
          return { allowed, retryAfterMs, included, carried, left }
        }),
      )
      expect(other).toEqual(looked)
      // a denied client that obeys `retryAfterMs` passes
      const waitMs = looked.retryAfterMs
      const willFit = !looked.allowed && waitMs < Number.POSITIVE_INFINITY
      expect(looked.allowed || willFit).toBe(true)
      const ms = willFit ? waitMs : random.whole(20) * DAY_MS + random.whole(DAY_MS)
      for (const one of all) await one.pass(ms)
      if (!willFit) continue
      for (const one of all) expect((await one.take(units)).allowed).toBe(true)
    }
    for (const one of all) await one.close()
  })
})

test('a key that changes its zone carries the units of as many unused days as it had', async () => {
  const clock = new FakeClock({ wallMs: Date.parse('2026-01-05T12:00Z') })
  const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  let zone = 'Pacific/Pago_Pago'
  const policies = [quota({ ...DAILY, timeZone: () => zone, maxHoldMs: '1m', backend: quotas })]
  const limiter = createLimiter({ policies, clock, deadlineMs: 60_000, onBackendError: 'deny' })
  await limiter.take('acme', 10)
  zone = 'Pacific/Kiritimati'
  // the day after 23 hours begins a day after the next date, because the key has crossed the date line
  const denied = await limiter.take('acme', 30)
  clock.advance(denied.retryAfterMs - 1)
  expect((await quotas.balance('acme')).left).toBe(20)
  clock.advance(1)
  expect((await limiter.take('acme', 30)).allowed).toBe(true)
  // a change of the zone changes nothing in a day that has begun
  zone = 'UTC'
  expect(await quotas.balance('acme')).toMatchObject({ carried: 20, left: 0 })
  limiter.close()
  await quotas.close()
})

test('a wait for units of several days includes the time until held units return', async () => {
  const clock = new FakeClock({ wallMs: Date.parse('2026-03-01T00:00Z') })
  const quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  const policies = [quota({ ...DAILY, carryOver: 12, maxHoldMs: '6d', backend: quotas })]
  const limiter = createLimiter({ policies, clock, deadlineMs: 60_000, onBackendError: 'deny' })
  await limiter.take('acme', 5)
  expect((await limiter.hold('acme', { reserve: 5 })).allowed).toBe(true)
  // the third day has 22 units, of which 5 are held
  const denied = await limiter.take('acme', 20)
  expect(denied.retryAfterMs).toBeGreaterThan(2 * DAY_MS)
  clock.advance(denied.retryAfterMs - 1)
  expect((await quotas.balance('acme')).available).toBe(17)
  clock.advance(1)
  expect((await limiter.take('acme', 20)).allowed).toBe(true)
  limiter.close()
  await quotas.close()
})
