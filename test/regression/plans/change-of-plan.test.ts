import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { algorithmNames } from '../../algorithms/any-policy.ts'
import { type PlanPolicy, PlanSite } from '../../plans/plan-site.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

function policy(algorithm: AlgorithmName, limit: number, windowMs = HOUR, more: Partial<PlanPolicy> = {}): PlanPolicy {
  return { algorithm, limit, windowMs, ...more }
}

/** Simulates an hour: once a minute a request of the larger plan, then as many as pass under the smaller one. */
async function alternating(free: PlanPolicy, pro: PlanPolicy): Promise<{ free: number; pro: number }> {
  const clock = new FakeClock()
  const site = new PlanSite({ free, pro }, clock)
  const passed = { free: 0, pro: 0 }
  for (let minute = 0; minute < 60; minute++) {
    clock.advance(MINUTE)
    if ((await site.take('pro')).allowed) passed.pro++
    while ((await site.take('free')).allowed) passed.free++
  }
  site.close()
  return passed
}

describe('an attacker who changes plan repeatedly', () => {
  // buckets have a burst of 100, and 100 more units in an hour
  test.each<[string, number, PlanPolicy, PlanPolicy]>([
    ['buckets', 200, policy('token-bucket', 100), policy('token-bucket', 1_000)],
    ['gcra', 200, policy('gcra', 100), policy('gcra', 1_000)],
    ['buckets with different windows', 200, policy('token-bucket', 100), policy('token-bucket', 50, MINUTE)],
    ['windows', 100, policy('fixed-window', 100), policy('fixed-window', 1_000)],
    ['windows of different lengths', 100, policy('fixed-window', 100), policy('fixed-window', 50, MINUTE)],
    ['sliding windows of different lengths', 100, policy('sliding-window', 100), policy('sliding-window', 50, MINUTE)],
    ['sliced windows', 100, policy('sliding-window', 100, HOUR, { slices: 6 }), policy('sliding-window', 50, MINUTE)],
    ['logs of different lengths', 100, policy('sliding-log', 100), policy('sliding-log', 50, MINUTE)],
    ['a window and a bucket', 100, policy('fixed-window', 100), policy('token-bucket', 1_000)],
    ['a log and a window', 100, policy('sliding-log', 100), policy('fixed-window', 1_000)],
  ])('%s: usage under both counts in free, with 100 an hour', async (_what, most, free, pro) => {
    const passed = await alternating(free, pro)
    expect(passed.free).toBeGreaterThanOrEqual(most - 2 * passed.pro)
    expect(passed.free).toBeLessThanOrEqual(most === 200 ? 200 - passed.pro : 100)
  })
})

const larger: Readonly<Record<AlgorithmName, number>> = {
  'fixed-window': 1_000,
  'sliding-window': 1_000,
  'sliding-log': 128,
  'token-bucket': 1_000,
  gcra: 1_000,
}

describe.each(algorithmNames)('a client that is upgraded from %s', (from) => {
  test.each(algorithmNames)('to %s keeps its usage, and so does a client that is downgraded', async (to) => {
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
