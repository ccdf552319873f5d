import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, algorithms, type Policy } from '@sluice/limiter-core/backend'
import { baseSeed, PolicyDriver, seededRandom } from '@sluice/testkit'
import { algorithmNames } from './any-policy.ts'
import { keyOf, policyOf } from './compiled-of.ts'

const tenYears = 3_650 * 24 * 3_600_000
const largest = 999_999_999_999_999

/** The largest limit that an algorithm takes over a window. */
function largestLimit(algorithm: AlgorithmName, windowMs: number): number {
  if (algorithm === 'sliding-log') return 128
  return algorithm === 'gcra' ? windowMs : largest
}

/** The policy variants that use different counting code. */
const shapes: readonly (Partial<Policy> & Pick<Policy, 'algorithm'>)[] = [
  ...algorithmNames.map((algorithm) => ({ algorithm })),
  { algorithm: 'sliding-window', slices: 2 },
  { algorithm: 'sliding-window', slices: 60 },
]

describe.each(shapes)('%j', (shape) => {
  const { algorithm } = shape

  test.each([1, 2, 1_000, tenYears])('keeps a limit of 1 in %i ms', (windowMs) => {
    const key = keyOf({ ...shape, limit: 1, windowMs })
    for (let now = 7; now < 7 + 5 * windowMs; ) {
      expect(key.take(now, 1).allowed).toBe(true)
      const { allowed, retryAfterMs } = key.peek(now, 1)
      expect([allowed, retryAfterMs >= windowMs, retryAfterMs <= 2 * windowMs]).toEqual([false, true, true])
      expect(key.peek(now + retryAfterMs - 1, 1).allowed).toBe(false)
      now += retryAfterMs
    }
  })

  test.each([1_000, 60_000, tenYears])('keeps its largest limit in %i ms to the unit', (windowMs) => {
    const limit = largestLimit(algorithm, windowMs)
    const key = keyOf({ ...shape, limit, windowMs })
    expect(key.take(5, limit - 1)).toMatchObject({ allowed: true, remaining: 1 })
    expect(key.peek(5, 2).allowed).toBe(false)
    expect(key.take(5, 1)).toMatchObject({ allowed: true, remaining: 0 })
    const { allowed, retryAfterMs } = key.peek(5, limit)
    expect([allowed, retryAfterMs >= windowMs, retryAfterMs <= 2 * windowMs]).toEqual([false, true, true])
    expect(key.take(5 + retryAfterMs, limit).allowed).toBe(true)
  })

  test('answers quickly, however much debt was charged and however long it lasts', () => {
    for (const windowMs of [1_000, tenYears]) {
      for (const limit of [1, largestLimit(algorithm, windowMs)]) {
        const key = keyOf({ ...shape, limit, windowMs })
        for (let charges = 0; charges < 3; charges++) key.adjust(5.5, Number.MAX_SAFE_INTEGER, 5.5)
        for (const cost of [1, limit]) {
          const { allowed, remaining, retryAfterMs, resetAfterMs } = key.peek(6.25, cost)
          expect([allowed, remaining, resetAfterMs > 0]).toEqual([false, 0, true])
          expect(Number.isInteger(retryAfterMs) && retryAfterMs > 0).toBe(true)
          expect(key.peek(6.25 + retryAfterMs, cost).allowed).toBe(true)
        }
      }
    }
  })

  test('admits no more than promised for the elapsed time, even if clock readings jump back', () => {
    const random = seededRandom(baseSeed())
    const limit = 50
    const key = keyOf({ ...shape, limit, windowMs: 10_000 })
    let latest = 100_000
    let admitted = 0
    for (let done = 0; done < 5_000; done++) {
      latest += random.whole(4)
      const reading = random.whole(2) === 0 ? latest : latest - random.whole(9_000)
      if (key.take(reading, 1).allowed) admitted++
    }
    const windows = Math.ceil((latest - 100_000) / 10_000)
    expect(admitted).toBeLessThanOrEqual(limit * (windows + 1))
    expect(admitted).toBeGreaterThan(0)
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'accepts a clock reading of %d',
    (now) => {
      const key = keyOf({ ...shape, limit: 4, windowMs: 1_000 })
      key.take(5, 4)
      for (const cost of [1, 4, 5]) expect(typeof key.take(now, cost).allowed).toBe('boolean')
      key.adjust(now, 5, now)
      expect(typeof key.take(10, 1).allowed).toBe('boolean')
    },
  )

  test('admits again a step and two windows after the clock stepped back', () => {
    const key = keyOf({ ...shape, limit: 4, windowMs: 1_000 })
    key.take(100_000, 4)
    const back = 40_000
    expect(key.peek(100_000 - back, 1).allowed).toBe(false)
    expect(key.peek(100_000 + 2_000, 4).allowed).toBe(true)
  })
})

describe('gcra', () => {
  test('rejects rates above one unit per ms, and enforces one unit per ms', () => {
    const compile = (limit: number) => algorithms.gcra.compile(policyOf({ algorithm: 'gcra', limit }))
    expect(() => compile(1_001)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_POLICY' }))
    const key = new PolicyDriver(compile(1_000))
    expect(key.take(0.5, 1_000).allowed).toBe(true)
    for (let ms = 1; ms <= 100; ms++) expect(key.take(0.5 + ms, 1).allowed).toBe(true)
    expect(key.peek(100.5, 1).retryAfterMs).toBe(1)
  })
})

describe('sliding-log', () => {
  test('rejects limits above 128 units, and suggests an alternative', () => {
    const compile = () => algorithms['sliding-log'].compile(policyOf({ algorithm: 'sliding-log', limit: 129 }))
    expect(compile).toThrow(
      expect.objectContaining({ code: 'SLUICE_BAD_POLICY', message: expect.stringContaining('slices') }),
    )
  })
})

describe('sliding-window', () => {
  test.each([0, -1, 1.5, 61, Number.NaN])('rejects %d slices', (slices) => {
    const compile = () =>
      algorithms['sliding-window'].compile(policyOf({ algorithm: 'sliding-window', limit: 9, slices }))
    expect(compile).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_POLICY' }))
  })
})

describe('token-bucket', () => {
  test('reports the remaining units quickly, however many units drain in a microsecond', () => {
    const key = keyOf({ algorithm: 'token-bucket', limit: largest, windowMs: 1_000 })
    expect(key.take(0, 5_000_000_000).allowed).toBe(true)
    const { remaining } = key.peek(0, 1)
    // 1 µs of this rate
    expect(largest - 5_000_000_000 - remaining).toBeLessThanOrEqual(0)
    expect(remaining).toBeLessThanOrEqual(largest - 5_000_000_000 + 1_000_000_000)
  })
})
