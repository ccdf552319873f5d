import assert from 'node:assert/strict'
import { type Charge, type Policy, PolicyVariants } from '@sluice/limiter-core/backend'
import type { BackendBench } from './backend-claims.ts'

interface PlanBench {
  readonly bench: BackendBench
  charge(plan: 'free' | 'pro', cost?: number): Charge
  left(plan: 'free' | 'pro'): Promise<number>
}

/**
 * Returns a policy with 5 per minute in one plan, and 700 by another algorithm and in the longer window in the other.
 */
function planBench(bench: BackendBench): PlanBench {
  const plans: Readonly<Record<'free' | 'pro', Policy>> = {
    free: { name: 'quota', algorithm: 'fixed-window', limit: 5, windowMs: 60_000 },
    pro: { name: 'quota', algorithm: 'sliding-window', limit: 700, windowMs: bench.hour.windowMs },
  }
  const variants = new PolicyVariants(Object.values(plans))
  const name = `contract/quota/${variants.layoutName}`
  const counters = {
    free: bench.backend.open(variants.compile(plans.free), name),
    pro: bench.backend.open(variants.compile(plans.pro), name),
  }
  const charge = (plan: 'free' | 'pro', cost = 1): Charge => ({ key: 'a', counter: counters[plan], cost })
  const left = async (plan: 'free' | 'pro'): Promise<number> =>
    (await bench.backend.peekAll([charge(plan)])).verdicts[0].remaining
  return { bench, charge, left }
}

/** Claims about the usage of one key under several plans. */
export const planClaims: Readonly<Record<string, (bench: BackendBench) => Promise<void>>> = {
  'counts units used under one plan in all plans, each with its own algorithm and window': async (on) => {
    const { bench, charge, left } = planBench(on)
    const answer = await bench.backend.takeAll([charge('pro', 6)])
    assert.equal(answer.verdicts[0].policy.limit, 700)
    assert.deepEqual([await left('free'), await left('pro')], [0, 694])
    assert.equal((await bench.backend.takeAll([charge('free')])).verdicts[0].allowed, false)
    assert.deepEqual([await left('free'), await left('pro')], [0, 694])
  },

  'applies takes, charges and resets under one plan to all plans': async (on) => {
    const { bench, charge, left } = planBench(on)
    const { takenAt } = await bench.backend.takeAll([charge('free', 2)])
    await bench.backend.adjustAll([charge('free', 1)], takenAt)
    assert.deepEqual([await left('free'), await left('pro')], [2, 697])
    await bench.backend.resetAll([charge('pro')])
    assert.deepEqual([await left('free'), await left('pro')], [5, 700])
  },

  'never admits under a small plan units that a larger plan does not have': async (on) => {
    const { bench, charge } = planBench(on)
    await bench.backend.takeAll([charge('pro', 700)])
    if (bench.hour.windowMs > 60_000) bench.clock.advance(60_000)
    const [{ allowed, policy }] = (await bench.backend.takeAll([charge('free')])).verdicts
    assert.deepEqual([allowed, policy.limit], [false, 5])
  },
}
