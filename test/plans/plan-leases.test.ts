import { describe, expect, test } from '@jest/globals'
import { type LeaseRequest, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { memoryBackend } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { settled } from '../leases/settled.ts'
import { HOUR, MINUTE, type Plans } from './any-plans.ts'
import { PlanSite } from './plan-site.ts'
import { roomAfter, type Use } from './use-history.ts'

const terms = { fraction: 0.1, leaseMs: 2_000 }

/** Two processes that lease from one ledger, reached asynchronously, each with a limiter with these plans. */
class LeasedPlans {
  readonly clock = new FakeClock({ nowMs: 1_000 })
  readonly sites: readonly PlanSite[]
  readonly #ledger = new MemoryLedger('ledger', memoryBackend({ clock: this.clock }), terms, () => this.clock.now())
  readonly #backends: readonly LeasingBackend[]

  constructor(plans: Plans) {
    const ledger = {
      request: async (asks: readonly LeaseRequest[]) => {
        await Promise.resolve()
        return this.#ledger.request(asks)
      },
    }
    const parts = { name: 'leased', exact: this.#ledger, ledger, terms, clock: this.clock }
    this.#backends = [new LeasingBackend(parts), new LeasingBackend(parts)]
    this.sites = this.#backends.map((backend) => new PlanSite(plans, this.clock, backend))
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      this.clock.advance(Math.min(100, left))
      await settled()
    }
  }

  async close(): Promise<void> {
    for (const site of this.sites) site.close()
    await Promise.all(this.#backends.map((backend) => backend.close()))
  }
}

const small: readonly (readonly [string, Plans])[] = [
  [
    'of one form',
    {
      free: { algorithm: 'fixed-window', limit: 79, windowMs: HOUR },
      pro: { algorithm: 'fixed-window', limit: 1_000, windowMs: HOUR },
    },
  ],
  [
    'of several forms',
    {
      free: { algorithm: 'token-bucket', limit: 79, windowMs: HOUR },
      pro: { algorithm: 'fixed-window', limit: 1_000, windowMs: MINUTE },
    },
  ],
]

describe('if a plan is too small to be leased', () => {
  test.each(small)(
    'no process spends units of a larger plan that the small plan does not count, %s',
    async (_what, plans) => {
      const leased = new LeasedPlans(plans)
      for (const [pro, free] of [leased.sites, leased.sites.toReversed()]) {
        for (let takes = 0; takes < 100; takes++) expect((await pro.take('pro')).allowed).toBe(true)
        expect((await free.take('free')).allowed).toBe(false)
        expect((await pro.take('free')).allowed).toBe(false)
      }
      await leased.close()
    },
  )
})

describe('plans that are all leased', () => {
  const plans: Plans = {
    free: { algorithm: 'token-bucket', limit: 200, windowMs: MINUTE },
    pro: { algorithm: 'fixed-window', limit: 4_000, windowMs: MINUTE },
  }

  test('admit no more under one plan than fits, given all units spent by all processes under any plan', () =>
    eachSeed(6, async (random) => {
      const leased = new LeasedPlans(plans)
      const uses: Use[] = []
      for (let done = 0; done < 600; done++) {
        if (random.whole(4) === 0) await leased.pass(random.pick([1, 50, 700, random.whole(5_000)]))
        const plan = random.pick(['free', 'free', 'pro'])
        const units = 1 + random.whole(12)
        const { allowed } = await random.pick(leased.sites).take(plan, units)
        if (!allowed) continue
        const room = roomAfter(plans[plan], uses, leased.clock.now(), ['free'], 4_000)
        // units charged late by a lease drain late: they are never available early
        expect([done, plan, units <= room + 1e-3]).toEqual([done, plan, true])
        uses.push({ at: leased.clock.now(), units, plan })
      }
      expect(uses.some(({ plan }) => plan === 'free')).toBe(true)
      await leased.close()
    }))
})
