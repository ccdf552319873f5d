import { describe, expect, test } from '@jest/globals'
import { type Backend, memoryBackend } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { algorithmNames, drainingNames } from '../algorithms/any-policy.ts'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { redisClientForTests } from '../services/redis/redis-for-tests.ts'
import { HOUR, largerPlan, MINUTE, type Plans, smallPlan } from './any-plans.ts'
import { PlanSite } from './plan-site.ts'
import { mostIn, promiseOf, roomAfter, type Use } from './use-history.ts'

const pairs = algorithmNames.flatMap((small) => algorithmNames.map((large) => [small, large] as const))

const redis = redisClientForTests()

const backends = {
  memory: { make: (clock: FakeClock): Backend => memoryBackend({ clock }), runs: 4, requests: 400 },
  Redis: {
    make: (clock: FakeClock): Backend =>
      redisBackend(redis.client, { prefix: ownPrefix(), clock, serverTime: () => clock.now() }),
    runs: 2,
    requests: 120,
  },
}

/** Waits that end windows, stay within one window, or are zero; sometimes hours. */
function someWait(random: SeededRandom): number {
  const kind = random.whole(10)
  if (kind < 4) return 0
  if (kind < 8) return random.whole(MINUTE / 4)
  return kind === 8 ? random.whole(10 * MINUTE) : random.whole(2 * HOUR)
}

interface Alternation {
  readonly plans: Plans
  readonly backend: Backend
  readonly clock: FakeClock
  readonly requests: number
  /** Plans within whose limits a take under a plan must fit. */
  readonly asked: Readonly<Record<string, readonly string[]>>
}

/** A client that takes all it can get and changes plans at random. Fails if more or less is admitted than fits. */
async function alternate(
  { plans, backend, clock, requests, asked }: Alternation,
  random: SeededRandom,
): Promise<Use[]> {
  const site = new PlanSite(plans, clock, backend)
  const names = Object.keys(plans)
  const ceiling = Math.max(...Object.values(plans).map(({ limit, burst = limit }) => burst))
  const uses: Use[] = []
  for (let done = 0; done < requests; done++) {
    clock.advance(someWait(random))
    const plan = random.pick(names)
    const now = clock.now()
    const cost = random.pick([1, 1, 2, 1 + random.whole(plans[plan].limit)])
    const rooms = asked[plan].map((one) => {
      // units that fitted when they were taken are charged in full
      const fitted = names.filter((other) => asked[other].includes(one))
      return roomAfter(plans[one], uses, now, fitted, ceiling)
    })
    const room = Math.min(...rooms)
    const { allowed } = await site.take(plan, cost)
    // except for the documented microsecond of algorithms that drain
    if (Math.abs(room - cost) > 1e-3 && allowed !== cost <= room) {
      const about = `request ${done} of ${cost} under ${plan} at ${now}: ${JSON.stringify({ plans, rooms })}`
      throw new Error(`${about}: ${allowed ? 'allowed' : 'denied'}`)
    }
    if (allowed) uses.push({ at: now, units: cost, plan })
  }
  site.close()
  await backend.close?.()
  return uses
}

describe.each(Object.entries(backends))('in %s', (_name, { make, runs, requests }) => {
  test.each(pairs)(
    '%s and %s: no client gets more than the larger plan, and each plan counts the units used under both',
    (small, large) =>
      eachSeed(runs, async (random) => {
        const clock = new FakeClock({ nowMs: 1 + random.whole(1_000_000) })
        const free = smallPlan(small, random)
        const plans = { free, pro: largerPlan(large, free, random) }
        const asked = { free: ['free', 'pro'], pro: ['pro'] }
        const uses = await alternate({ plans, backend: make(clock), clock, requests, asked }, random)
        for (const length of [free.windowMs, plans.pro.windowMs, HOUR, 6 * HOUR]) {
          expect(mostIn(uses, length)).toBeLessThanOrEqual(promiseOf(plans.pro, length))
        }
      }),
    60_000,
  )

  test.each(pairs)(
    '%s with a larger burst and %s with a higher rate: each counts the units used under both',
    (atOnce, overTime) =>
      eachSeed(runs, async (random) => {
        const clock = new FakeClock({ nowMs: 1 + random.whole(1_000_000) })
        const plans = {
          atOnce: { algorithm: atOnce, limit: 40 + random.whole(20), windowMs: HOUR },
          overTime: { algorithm: overTime, limit: 3 + random.whole(5), windowMs: MINUTE },
        }
        const asked = { atOnce: ['atOnce'], overTime: ['overTime'] }
        const uses = await alternate({ plans, backend: make(clock), clock, requests, asked }, random)
        if (drainingNames.includes(atOnce) && drainingNames.includes(overTime)) {
          const both = { ...plans.atOnce, limit: plans.overTime.limit * 60, burst: plans.atOnce.limit }
          expect(mostIn(uses, HOUR)).toBeLessThanOrEqual(promiseOf(both, HOUR))
          expect(mostIn(uses, MINUTE)).toBeLessThanOrEqual(promiseOf(both, MINUTE))
        }
        for (const [plan, policy] of Object.entries(plans)) {
          const own = uses.filter((use) => use.plan === plan)
          for (const length of [MINUTE, HOUR]) {
            expect(mostIn(own, length)).toBeLessThanOrEqual(promiseOf(policy, length))
          }
        }
      }),
    60_000,
  )
})
