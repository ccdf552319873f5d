import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { type Backend, type Decision, type MaybePromise, memoryBackend } from '@sluice/limiter-core'
import { leasedBackend, redisBackend } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { PairedPrimary } from '../cluster/paired.ts'
import { emptyBackend } from '../postgres/empty-backend.ts'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { redisClientForTests } from '../services/redis/redis-for-tests.ts'
import { anyPlan, MINUTE, type Plans } from './any-plans.ts'
import { PlanSite } from './plan-site.ts'

const DEEDS = 60

const redis = redisClientForTests()
const postgres = postgresForTests({ fsync: false })

/** Takes, charges, refunds and resets under three plans, applied to memory and to another backend alike. */
async function sameAsMemory(backend: Backend, clock: FakeClock, random: SeededRandom): Promise<void> {
  const plans: Plans = { a: anyPlan(random), b: anyPlan(random), c: anyPlan(random) }
  const sites = [new PlanSite(plans, clock, memoryBackend({ clock })), new PlanSite(plans, clock, backend)]
  const taken: { readonly plan: string; readonly decisions: readonly Decision[] }[] = []
  for (let done = 0; done < DEEDS; done++) {
    clock.advance(random.pick([0, 0, 1, 250, 7_000, random.whole(5 * MINUTE)]))
    const plan = random.pick(Object.keys(plans))
    const units = random.pick([1, 1, 3, 1 + random.whole(20)])
    const deed = random.pick(['take', 'take', 'take', 'take', 'charge', 'refund', 'reset'])
    const before = taken[taken.length - 1 - random.whole(3)]
    let decisions: readonly Decision[] = []
    if (deed === 'take') {
      decisions = await Promise.all(sites.map((site) => site.take(plan, units)))
      taken.push({ plan, decisions })
    } else if (deed === 'reset') {
      if (random.whole(8) === 0) await Promise.all(sites.map((site) => site.reset(plan)))
    } else if (before) {
      const sign = deed === 'refund' ? -1 : 1
      decisions = await Promise.all(
        sites.map((site, index) => site.charge(before.plan, sign * units, before.decisions[index])),
      )
    }
    const peeks = await Promise.all(sites.map((site) => Promise.all(Object.keys(plans).map((one) => site.peek(one)))))
    for (const [memory, other] of [decisions, ...peeks[0].map((peek, index) => [peek, peeks[1][index]])]) {
      if (!memory || isDeepStrictEqual(told(other), told(memory))) continue
      const about = `deed ${done}: ${deed} ${units} under ${plan} at ${clock.now()} of ${JSON.stringify(plans)}`
      expect([about, told(other)]).toEqual([about, told(memory)])
    }
  }
  for (const site of sites) site.close()
}

function told({ allowed, binding, retryAfterMs, takenAt }: Decision): readonly unknown[] {
  return [allowed, binding.policy.limit, binding.remaining, binding.resetAfterMs, retryAfterMs, takenAt]
}

// each step is a statement, which takes longer than the others
const POSTGRES = 'a PostgreSQL'

const others: Readonly<Record<string, (clock: FakeClock) => MaybePromise<Backend>>> = {
  'one Redis': (clock) => redisBackend(redis.client, { prefix: ownPrefix(), clock, serverTime: () => clock.now() }),
  // limits too small to be leased
  'a Redis of leases': (clock) =>
    leasedBackend(redis.client, { prefix: ownPrefix(), clock, serverTime: () => clock.now() }),
  [POSTGRES]: (clock) => emptyBackend(postgres.pool, clock),
  'the primary of a cluster': (clock) => new PairedPrimary({ fraction: 0.1, leaseMs: 2_000 }, clock).worker(),
}

describe.each(Object.entries(others))('%s', (name, make) => {
  test(
    'gives the same results as memory for three plans, number for number',
    () =>
      eachSeed(name === POSTGRES ? 8 : 25, async (random) => {
        const clock = new FakeClock({ nowMs: 1 + random.whole(1_000_000) })
        const backend = await make(clock)
        await sameAsMemory(backend, clock, random)
        await backend.close?.()
      }),
    120_000,
  )
})
