import { expect, test } from '@jest/globals'
import { type AlgorithmName, algorithms, BookingPolicy } from '@sluice/limiter-core/backend'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

const names = Object.keys(algorithms) as AlgorithmName[]
const WINDOW_MS = 10_000
const LARGEST = 16

function policiesOf(algorithm: AlgorithmName, limits: readonly number[]): readonly BookingPolicy[] {
  return limits.map(
    (limit) =>
      new BookingPolicy(algorithms[algorithm].compile({ name: 'p', algorithm, limit, windowMs: WINDOW_MS }, LARGEST)),
  )
}

/** A take of a random cost: spends, or books a turn. The algorithm is asked first whether it fits. */
function take(policy: BookingPolicy, cells: Float64Array, now: number, cost: number, longestMs: number): void {
  const waitMs = policy.waitMs(cells, 0, now, cost)
  expect(waitMs).toBeGreaterThanOrEqual(0)
  if (waitMs === 0) {
    expect(policy.inner.waitMs(cells, 0, now, cost)).toBe(0)
    policy.spend(cells, 0, now, cost)
    return
  }
  if (cost > policy.capacity) return
  expect(waitMs % 1_000).toBe(0)
  // usage whose times are later than the clock is waited for as without turns
  const usageMs = policy.inner.waitMs(cells, 0, now, policy.capacity)
  expect(waitMs).toBeLessThanOrEqual(longestMs + usageMs)
  policy.book(cells, 0, now, cost)
}

/** Returns the longest wait: ten limits under one limit, behind ten under another one, and the usage. */
function longestOf(policies: readonly BookingPolicy[], cells: Float64Array, now: number): number {
  const queues = policies.map((one) => one.longestMs + one.most * one.paceMs + one.resetAfterMs(cells, 0, now))
  return 2 * Math.max(...queues)
}

test.each(names)('limits that change, clocks that are set, refunds and costs leave no key denied: %s', (algorithm) =>
  eachSeed(20, (random: SeededRandom) => {
    // gcra stores times of one rate
    const limits = algorithm === 'gcra' ? [4] : [1, 4, LARGEST]
    const policies = policiesOf(algorithm, limits)
    const cells = new Float64Array(policies[0].cells)
    let now = 1e7 * random.next()
    let latest = now
    for (let step = 0; step < 400; step++) {
      const kind = random.whole(40)
      if (kind === 0) now += random.pick([-1, 1, 1]) * random.whole(200_000)
      else now += random.whole(1_200)
      latest = Math.max(latest, now)
      const policy = random.pick(policies)
      if (kind === 1) policy.adjust(cells, 0, now, -random.whole(5), random.pick([now, now - 1_000]))
      else if (kind === 2) policy.adopt(cells, 0, now, random.whole(5), random.whole(WINDOW_MS))
      else take(policy, cells, now, 1 + random.whole(random.pick([1, 4, LARGEST + 1])), longestOf(policies, cells, now))
      expect(cells.every(Number.isFinite)).toBe(true)
    }
    // no caller returns: the key is free when its bookings and its usage are over, whatever the clock did before
    for (const policy of policies) {
      const freeAt = Math.max(latest, now) + policy.keptMs(cells, 0, Math.max(latest, now)) + 1
      expect(policy.waitMs(cells, 0, freeAt, policy.capacity)).toBe(0)
      expect(policy.waitMs(cells, 0, now + 25 * 60 * WINDOW_MS, policy.capacity)).toBe(0)
    }
  }),
)
