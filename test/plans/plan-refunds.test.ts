import { describe, expect, test } from '@jest/globals'
import type { Decision } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { algorithmNames } from '../algorithms/any-policy.ts'
import { anyPlan, HOUR, MINUTE, type Plans } from './any-plans.ts'
import { PlanSite } from './plan-site.ts'

async function leftOf(site: PlanSite, plans: Plans): Promise<Record<string, number>> {
  const names = Object.keys(plans)
  const left = await Promise.all(names.map((plan) => site.left(plan)))
  return Object.fromEntries(names.map((plan, index) => [plan, left[index]]))
}

describe('a refund under one plan', () => {
  test.each(algorithmNames.flatMap((a) => algorithmNames.map((b) => [a, b] as const)))(
    '%s or %s: applies to all plans, and an additional cost is charged to all plans',
    async (a, b) => {
      const clock = new FakeClock({ nowMs: 17 })
      const plans = {
        free: { algorithm: a, limit: 20, windowMs: MINUTE },
        pro: { algorithm: b, limit: 100, windowMs: HOUR },
      }
      const site = new PlanSite(plans, clock)
      const taken = await site.take('free', 3)
      expect(await leftOf(site, plans)).toEqual({ free: 17, pro: 97 })
      await site.charge('free', 4, taken)
      expect(await leftOf(site, plans)).toEqual({ free: 13, pro: 93 })
      await site.charge('free', -7, taken)
      expect(await leftOf(site, plans)).toEqual({ free: 20, pro: 100 })
      await site.take('pro', 60)
      await site.reset('free')
      expect(await leftOf(site, plans)).toEqual({ free: 20, pro: 100 })
    },
  )
})

describe('taking and refunding never admits more', () => {
  test('from a bucket filled under a larger plan, whatever is refunded', async () => {
    const clock = new FakeClock({ nowMs: 17 })
    const plans: Plans = {
      free: { algorithm: 'token-bucket', limit: 10, windowMs: HOUR },
      pro: { algorithm: 'token-bucket', limit: 100, windowMs: HOUR },
    }
    const site = new PlanSite(plans, clock)
    for (let hour = 0; hour < 24; hour++) {
      await site.take('pro', 100)
      clock.advance(HOUR)
    }
    // successful logins cost nothing
    for (let login = 0; login < 500; login++) await site.charge('pro', -1, await site.take('pro'))
    expect((await site.peek('free')).retryAfterMs).toBe(8 * HOUR + HOUR / 10)
  })

  test('from a log filled under a larger plan', async () => {
    const clock = new FakeClock({ nowMs: 17 })
    const plans: Plans = {
      free: { algorithm: 'sliding-log', limit: 10, windowMs: HOUR },
      pro: { algorithm: 'fixed-window', limit: 100, windowMs: HOUR },
    }
    const site = new PlanSite(plans, clock)
    await site.take('pro', 12)
    clock.advance(MINUTE)
    for (let login = 0; login < 50; login++) await site.charge('pro', -1, await site.take('pro'))
    expect(await leftOf(site, plans)).toEqual({ free: 0, pro: 88 })
  })

  test('from any three plans, however many requests run concurrently', () =>
    eachSeed(200, async (random) => {
      const clock = new FakeClock({ nowMs: 1 + random.whole(1_000_000) })
      const plans: Plans = { a: anyPlan(random), b: anyPlan(random), c: anyPlan(random) }
      const site = new PlanSite(plans, clock)
      const somePlan = (): string => random.pick(Object.keys(plans))
      for (let round = 0; round < 12; round++) {
        for (let used = 0; used < 6; used++) {
          await site.take(somePlan(), 1 + random.whole(6))
          clock.advance(random.pick([0, 1, 300, random.whole(MINUTE)]))
        }
        const before = await leftOf(site, plans)
        const underWay: { plan: string; units: number; taken: Decision }[] = []
        for (let some = 0; some < 4; some++) {
          const [plan, units] = [somePlan(), 1 + random.whole(6)]
          const taken = await site.take(plan, units)
          if (taken.allowed) underWay.push({ plan, units, taken })
        }
        while (underWay.length > 0) {
          const [{ plan, units, taken }] = underWay.splice(random.whole(underWay.length), 1)
          await site.charge(plan, -units, taken)
        }
        const after = await leftOf(site, plans)
        for (const plan of Object.keys(plans)) {
          const about = `round ${round}, ${plan} of ${JSON.stringify(plans)}`
          expect([about, after[plan]]).toEqual([about, Math.min(after[plan], before[plan])])
        }
      }
      site.close()
    }))
})
