import { expect, test } from '@jest/globals'
import { type AlgorithmName, algorithms, type Held, HoldingPolicy } from '@sluice/limiter-core/backend'
import { eachSeed } from '@sluice/testkit'

const MAX_HOLD_MS = 10_000
const SLICE_MS = MAX_HOLD_MS / 8
const names = Object.keys(algorithms) as AlgorithmName[]

/** A policy with holds, its cells, and a model of them: the cells of the policy alone, and a list of holds. */
function bench(algorithm: AlgorithmName) {
  const inner = algorithms[algorithm].compile({ name: 'p', algorithm, limit: 20, windowMs: 7_000 })
  const policy = new HoldingPolicy(inner, SLICE_MS)
  const cells = new Float64Array(policy.cells)
  const used = new Float64Array(inner.cells)
  const held: Held[] = []
  const heldAt = (now: number): number => held.reduce((sum, { units, endsAt }) => sum + (endsAt > now ? units : 0), 0)
  const fits = (now: number, cost: number): boolean =>
    cost + heldAt(now) <= inner.capacity && inner.waitMs(used, 0, now, cost + heldAt(now)) === 0
  return { inner, policy, cells, used, held, heldAt, fits }
}

test.each(names)('a hold lasts as long as requested and at most a slice longer: %s', (algorithm) => {
  const { policy } = bench(algorithm)
  for (const [now, forMs] of [
    [0, 1],
    [1_249, 1],
    [1_250, 10_000],
    [987_654.321, 9_999],
    [5e12, 1_250],
  ]) {
    const lastsMs = policy.endsAt(now, forMs) - now
    expect([now, forMs, lastsMs > forMs && lastsMs <= forMs + SLICE_MS]).toEqual([now, forMs, true])
  }
  // longer than the policy allows
  expect(policy.endsAt(0, 60_000)).toBe(MAX_HOLD_MS + SLICE_MS)
})

test.each(names)('random holds, takes and releases equal a list of holds: %s', (algorithm) =>
  eachSeed(15, (random) => {
    const { inner, policy, cells, used, held, heldAt, fits } = bench(algorithm)
    let now = 1_000 + random.whole(1_000_000)
    for (let step = 0; step < 150; step++) {
      const kind = random.whole(8)
      if (kind < 3) now += random.whole(4_000)
      else if (kind < 5) {
        const cost = 1 + random.whole(7)
        if (policy.waitMs(cells, 0, now, cost) > 0) continue
        policy.spend(cells, 0, now, cost)
        inner.spend(used, 0, now, cost)
      } else if (kind < 7 || held.length === 0) {
        const one = { units: 1 + random.whole(7), endsAt: policy.endsAt(now, 1 + random.whole(MAX_HOLD_MS)) }
        if (policy.waitMs(cells, 0, now, one.units) > 0) continue
        policy.hold(cells, 0, now, one.units, one.endsAt)
        held.push(one)
      } else {
        const [one] = held.splice(random.whole(held.length), 1)
        expect(policy.heldOf(cells, 0, now, one.units, one.endsAt)).toBe(one.endsAt > now ? one.units : 0)
        policy.release(cells, 0, now, one.units, one.endsAt)
      }
      expect(policy.remaining(cells, 0, now)).toBe(Math.max(0, inner.remaining(used, 0, now) - heldAt(now)))
      const cost = 1 + random.whole(inner.capacity + 2)
      const waitMs = policy.waitMs(cells, 0, now, cost)
      if (cost > inner.capacity) expect(waitMs).toBe(Number.POSITIVE_INFINITY)
      else {
        expect(fits(now + waitMs, cost)).toBe(true)
        if (waitMs > 0) expect(fits(now + waitMs - 1, cost)).toBe(false)
      }
      const resetMs = policy.resetAfterMs(cells, 0, now)
      expect(policy.remaining(cells, 0, now + resetMs)).toBe(inner.capacity)
    }
  }),
)

test.each(names)('units stay held if the clock is set back, and none are held twice: %s', (algorithm) =>
  eachSeed(15, (random) => {
    const { policy, cells, held, heldAt } = bench(algorithm)
    let now = 1_000_000
    let latest = now
    for (let step = 0; step < 100; step++) {
      now += random.whole(6_000) - 2_000
      latest = Math.max(latest, now)
      // units that have ended once do not come back
      for (const ended of held.filter(({ endsAt }) => endsAt <= latest)) held.splice(held.indexOf(ended), 1)
      const one = { units: 1 + random.whole(3), endsAt: policy.endsAt(now, 1 + random.whole(MAX_HOLD_MS)) }
      if (policy.waitMs(cells, 0, now, one.units) > 0) continue
      policy.hold(cells, 0, now, one.units, one.endsAt)
      held.push(one)
      const free = policy.remaining(cells, 0, now)
      expect(free).toBeLessThanOrEqual(20 - heldAt(now))
      expect(policy.remaining(cells, 0, latest + MAX_HOLD_MS + 2 * SLICE_MS)).toBe(20)
    }
  }),
)
