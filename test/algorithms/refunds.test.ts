import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, algorithms, type Policy } from '@sluice/limiter-core/backend'
import { eachSeed, PolicyDriver, type SeededRandom } from '@sluice/testkit'
import { algorithmNames } from './any-policy.ts'
import { keyOf, policyOf } from './compiled-of.ts'

const windows = ['fixed-window', 'sliding-window', 'sliding-log'] as const
const buckets = ['token-bucket', 'gcra'] as const
const limit = 8

describe.each(algorithmNames)('a refund under %s', (algorithm) => {
  const policy = policyOf({ algorithm, limit })

  test('immediately returns units that were just taken', () => {
    const key = keyOf({ algorithm, limit })
    key.take(100, 5)
    expect(key.adjust(100, -3, 100)).toBe(-3)
    expect(key.peek(100, 6)).toMatchObject({ allowed: true, remaining: 6 })
    expect(key.peek(100, 7).allowed).toBe(false)
  })

  test('creates no key', () => {
    const key = keyOf({ algorithm, limit })
    expect(key.adjust(100, -3, 100)).toBeCloseTo(0, 9)
    expect([...key.cells.subarray(key.at, key.at + key.compiled.cells)].every((cell) => cell === 0)).toBe(true)
  })

  test('never raises a key above its capacity, however large the refund is', () => {
    const key = keyOf({ algorithm, limit })
    key.take(100, 2)
    expect(key.adjust(100, -1_000, 100)).toBe(-2)
    expect(key.peek(100, limit)).toMatchObject({ remaining: limit, resetAfterMs: 0 })
  })

  test('returns nothing for a take that is older than everything counted', () => {
    const key = keyOf({ algorithm, limit })
    key.take(0, 4)
    const later = 10 * policy.windowMs
    key.take(later, 4)
    expect(key.adjust(later, -4, 0)).toBeCloseTo(0, 9)
    expect(key.peek(later, 0).remaining).toBe(4)
  })
})

describe.each(windows)('a refund under %s', (algorithm) => {
  test('never admits more in its windows than if its take had not happened', () =>
    eachSeed(60, (random) => {
      const { admitted, refunded } = takeAndRefund(policyOf({ algorithm, limit }), random)
      const net = admitted.map(({ at, units }, index) => ({ at, units: units - (refunded[index] ?? 0) }))
      const largest = algorithm === 'sliding-log' ? limit : 2 * limit
      expect(mostInAWindow(net, 1_000)).toBeLessThanOrEqual(largest)
    }))
})

describe.each(['fixed-window', 'sliding-log'] as const)('a refund under %s', (algorithm) => {
  test('returns nothing once the window of its take has passed', () => {
    const key = keyOf({ algorithm, limit })
    key.take(0, 4)
    key.take(1_000, 4)
    expect(key.adjust(1_000, -4, 0)).toBeCloseTo(0, 9)
    expect(key.peek(1_000, 0).remaining).toBe(4)
  })
})

describe('a refund under sliding-window', () => {
  test('finds its take for one window, also in the previous epoch, but no longer', () => {
    const key = keyOf({ algorithm: 'sliding-window', limit })
    key.take(0.125, 2)
    key.take(900.125, 2)
    key.take(1_000.125, 1)
    expect(key.adjust(1_001, -1, 0.125)).toBeCloseTo(0, 9)
    expect(key.adjust(1_900, -1, 900.125)).toBe(-1)
    expect(key.adjust(1_900.125, -1, 900.125)).toBeCloseTo(0, 9)
    expect(key.adjust(2_000, -1, 1_000.125)).toBe(-1)
    expect(key.adjust(2_000.125, -1, 1_000.125)).toBeCloseTo(0, 9)
  })

  // 60 s after a fractional start, the next window start is rounded up or down by double arithmetic
  test.each([1, 3, 7, 60])('finds the take that opened its window despite rounding: slices %i', (slices) =>
    eachSeed(300, (random) => {
      const windowMs = 60_000
      const key = keyOf({ algorithm: 'sliding-window', limit, windowMs, slices })
      const opened = random.next() * 1e6
      key.take(opened, 3)
      let now = opened
      while (now < opened + 0.8 * windowMs) {
        now += (random.next() * windowMs) / 5
        key.take(now, 1)
      }
      const before = key.peek(now, 0).remaining
      expect(key.adjust(now, -2, opened)).toBe(-2)
      if (now < opened + windowMs || slices > 1) expect(key.peek(now, 0).remaining).toBe(before + 2)
    }),
  )

  test.each([1, 2])('is subtracted only from the slice of its take: slices %i', (slices) => {
    const key = keyOf({ algorithm: 'sliding-window', limit, slices })
    key.take(0, 3)
    key.take(1_000, 3)
    key.adjust(1_100, -3, 0)
    expect(key.adjust(1_100, -3, 0)).toBeCloseTo(0, 9)
    expect(key.peek(1_100, 0).remaining).toBe(5)
  })
})

describe.each(buckets)('a refund under %s', (algorithm) => {
  test('never leaves less used than if its take had not happened', () =>
    eachSeed(400, (random) => againstCounterfactual(algorithm, random)))

  test('returns only the units that cannot have drained since', () => {
    const key = keyOf({ algorithm, limit: 10, windowMs: 10_000 })
    key.take(0, 6)
    expect(key.adjust(2_000, -6, 0)).toBeCloseTo(-4, 9)
    expect(key.peek(2_000, 0).resetAfterMs).toBeCloseTo(0, 6)
    key.take(2_000, 10)
    expect(key.adjust(9_000, -6, 2_000)).toBeCloseTo(0, 9)
  })
})

/** Takes at random and refunds some takes later. Returns what was taken when, and how much was refunded. */
function takeAndRefund(policy: Policy, random: SeededRandom) {
  const key = new PolicyDriver(algorithms[policy.algorithm].compile(policy))
  const admitted: { at: number; units: number }[] = []
  const refunded: number[] = []
  let now = 0
  for (let done = 0; done < 200; done++) {
    now += random.whole(150)
    const units = 1 + random.whole(3)
    if (key.take(now, units).allowed) admitted.push({ at: now, units })
    const refund = random.whole(admitted.length)
    if (random.whole(4) === 0 && admitted[refund] && refunded[refund] === undefined) {
      refunded[refund] = -key.adjust(now, -admitted[refund].units, admitted[refund].at)
    }
  }
  return { admitted, refunded }
}

function mostInAWindow(taken: readonly { at: number; units: number }[], windowMs: number): number {
  const from = ({ at }: { at: number }): number =>
    taken.reduce((sum, one) => sum + (one.at >= at && one.at < at + windowMs ? one.units : 0), 0)
  return Math.max(0, ...taken.map(from))
}

/** Two histories that differ in one take: in one it is refunded, in the other it never happened. */
function againstCounterfactual(algorithm: AlgorithmName, random: SeededRandom): void {
  const policy = policyOf({ algorithm, limit: 1 + random.whole(40), burst: 1 + random.whole(40) })
  const compiled = algorithms[algorithm].compile(policy)
  const [real, without] = [new PolicyDriver(compiled), new PolicyDriver(compiled)]
  let now = random.next() * 1_000
  const both = (): void => {
    for (let takes = random.whole(8); takes > 0; takes--) {
      now += random.next() * 300
      const cost = 1 + random.whole(compiled.capacity)
      if (real.take(now, cost).allowed) expect(without.take(now, cost).allowed).toBe(true)
    }
  }
  both()
  const [takenAt, cost] = [now, 1 + random.whole(compiled.capacity)]
  const taken = real.take(now, cost).allowed
  both()
  if (!taken) return
  let left = cost
  while (left > 0) {
    const part = 1 + random.whole(left)
    real.adjust(now, -part, takenAt)
    left -= part
    expect(real.peek(now, 0).resetAfterMs).toBeGreaterThanOrEqual(without.peek(now, 0).resetAfterMs - 0.001)
    both()
  }
  expect(real.peek(now, 0).resetAfterMs).toBeGreaterThanOrEqual(without.peek(now, 0).resetAfterMs - 0.001)
}
