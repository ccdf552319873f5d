import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { algorithmNames } from '../algorithms/any-policy.ts'
import { type PlanPolicy, PlanSite } from '../plans/plan-site.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

function policy(algorithm: AlgorithmName, limit: number, windowMs = HOUR, more: Partial<PlanPolicy> = {}): PlanPolicy {
  return { algorithm, limit, windowMs, ...more }
}

/** Asks under the plans in turn, each so often, for an hour of virtual time. How many passed by plan. */
async function alternating(free: PlanPolicy, pro: PlanPolicy): Promise<{ free: number; pro: number }> {
  const clock = new FakeClock()
  const site = new PlanSite({ free, pro }, clock)
  const passed = { free: 0, pro: 0 }
  for (let second = 0; second < 3_600; second++) {
    for (const plan of ['free', 'pro'] as const) if ((await site.take(plan)).allowed) passed[plan]++
    clock.advance(1_000)
  }
  site.close()
  return passed
}

describe('an attacker changes plan with every request', () => {
  // what each algorithm promises of 100 an hour: 200 where it drains or where windows meet
  test.each<[AlgorithmName, number]>([
    ['token-bucket', 200],
    ['gcra', 200],
    ['fixed-window', 100],
    ['sliding-window', 200],
    ['sliding-log', 100],
  ])('%s: free stays free of 100 an hour', async (algorithm, most) => {
    const { free, pro } = await alternating(
      policy(algorithm, 100),
      policy(algorithm, algorithm === 'sliding-log' ? 128 : 1_000),
    )
    expect(free).toBeLessThanOrEqual(most)
    expect(free + pro).toBeLessThanOrEqual(2_000)
  })

  test.each<[string, PlanPolicy, PlanPolicy]>([
    ['windows of other length', policy('fixed-window', 100), policy('fixed-window', 50, MINUTE)],
    ['sliding windows of other length', policy('sliding-window', 100), policy('sliding-window', 50, MINUTE)],
    ['logs of other length', policy('sliding-log', 100), policy('sliding-log', 50, MINUTE)],
    ['windows of other slices', policy('sliding-window', 100), policy('sliding-window', 1_000, HOUR, { slices: 4 })],
    ['buckets of other windows', policy('token-bucket', 100), policy('token-bucket', 50, MINUTE)],
    ['another algorithm', policy('fixed-window', 100), policy('token-bucket', 1_000)],
  ])('%s: free is full while pro is used', async (_what, free, pro) => {
    const { free: passed } = await alternating(free, pro)
    expect(passed).toBeLessThanOrEqual(200)
  })
})

const larger: Readonly<Record<AlgorithmName, number>> = {
  'fixed-window': 1_000,
  'sliding-window': 1_000,
  'sliding-log': 128,
  'token-bucket': 1_000,
  gcra: 1_000,
}

describe.each(algorithmNames)('who is upgraded from %s', (from) => {
  test.each(algorithmNames)('to %s keeps what is used, and so does who is downgraded', async (to) => {
    const clock = new FakeClock()
    const limit = from === to ? larger[to] : 120
    const plans = { free: policy(from, 100), pro: policy(to, limit) }
    const up = new PlanSite(plans, clock)
    expect((await up.take('free', 100)).allowed).toBe(true)
    expect(await up.left('pro')).toBe(limit - 100)
    const down = new PlanSite(plans, clock)
    expect((await down.take('pro', limit)).allowed).toBe(true)
    expect(await down.left('free')).toBe(0)
    const denied = await down.take('free')
    expect(denied.allowed).toBe(false)
    clock.advance(denied.retryAfterMs - 1)
    expect((await down.peek('free')).allowed).toBe(false)
    clock.advance(1)
    expect((await down.take('free')).allowed).toBe(true)
  })
})
