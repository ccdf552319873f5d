import { describe, expect, test } from '@jest/globals'
import type { Policy } from '@sluice/limiter-core'
import { keyOf } from './compiled-of.ts'

const never = Number.POSITIVE_INFINITY

/** now, cost → allowed, remaining, retry after, reset after */
type Row = readonly [number, number, boolean, number, number, number]

const tables: readonly (readonly [string, Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>, readonly Row[]])[] = [
  [
    'fixed-window: 3 in a second, starting with the first take',
    { algorithm: 'fixed-window', limit: 3 },
    [
      [0, 2, true, 1, 0, 1_000],
      [400, 2, false, 1, 600, 600],
      [400, 1, true, 0, 0, 600],
      [999, 1, false, 0, 1, 1],
      [1_000, 1, true, 2, 0, 1_000],
      [1_000, 4, false, 2, never, 1_000],
      [1_500, 0, true, 2, 0, 500],
      [2_000, 0, true, 3, 0, 0],
      [5_250, 3, true, 0, 0, 1_000],
    ],
  ],
  [
    'sliding-window: 4 in a second, the previous epoch weighted until its last unit expires',
    { algorithm: 'sliding-window', limit: 4 },
    [
      [0, 1, true, 3, 0, 1_000],
      [600, 3, true, 0, 0, 1_000],
      [600, 1, false, 0, 650, 1_000],
      [1_000, 1, false, 0, 250, 600],
      [1_249, 1, false, 0, 1, 351],
      [1_250, 1, true, 0, 0, 1_750],
      [1_500, 1, true, 0, 0, 1_500],
      [1_599, 1, false, 0, 1, 1_401],
      [1_600, 1, true, 1, 0, 1_000],
      [1_600, 5, false, 1, never, 1_000],
      [2_000, 2, false, 1, 334, 600],
      [2_600, 4, true, 0, 0, 1_000],
      [2_600, 1, false, 0, 1_000, 1_000],
      [3_600, 4, true, 0, 0, 1_000],
    ],
  ],
  [
    'sliding-window: 4 in a second, two slices, the oldest counted in full',
    { algorithm: 'sliding-window', limit: 4, slices: 2 },
    [
      [0, 1, true, 3, 0, 1_500],
      [600, 2, true, 1, 0, 1_400],
      [1_100, 1, true, 0, 0, 1_400],
      [1_400, 1, false, 0, 100, 1_100],
      [1_500, 1, true, 0, 0, 1_500],
      [1_500, 3, false, 0, 1_000, 1_500],
      [2_999, 4, false, 3, 1, 1],
      [3_000, 4, true, 0, 0, 1_500],
    ],
  ],
  [
    'sliding-log: 3 in any second',
    { algorithm: 'sliding-log', limit: 3 },
    [
      [0, 1, true, 2, 0, 1_000],
      [300, 1, true, 1, 0, 1_000],
      [900, 2, false, 1, 100, 400],
      [1_000, 2, true, 0, 0, 1_000],
      [1_299, 1, false, 0, 1, 701],
      [1_300, 1, true, 0, 0, 1_000],
      [1_300, 4, false, 0, never, 1_000],
    ],
  ],
  [
    'token-bucket: 10 a second, 5 at once',
    { algorithm: 'token-bucket', limit: 10, burst: 5 },
    [
      [0, 5, true, 0, 0, 500],
      [50, 1, false, 0, 50, 450],
      [100, 1, true, 0, 0, 500],
      [350, 2, true, 0, 0, 450],
      [350, 1, false, 0, 50, 450],
      [2_000, 6, false, 5, never, 0],
      [2_000, 5, true, 0, 0, 500],
    ],
  ],
  // the test vectors of redis-cell and throttled, and a last row that both get wrong: an old key and an impossible cost
  [
    'gcra: 5 in 5 s',
    { algorithm: 'gcra', limit: 5, windowMs: 5_000 },
    [
      [0, 6, false, 5, never, 0],
      [0, 1, true, 4, 0, 1_000],
      [0, 1, true, 3, 0, 2_000],
      [0, 1, true, 2, 0, 3_000],
      [0, 1, true, 1, 0, 4_000],
      [0, 1, true, 0, 0, 5_000],
      [0, 1, false, 0, 1_000, 5_000],
      [3_000, 1, true, 2, 0, 3_000],
      [3_100, 1, true, 1, 0, 3_900],
      [4_000, 1, true, 1, 0, 4_000],
      [8_000, 1, true, 4, 0, 1_000],
      [9_500, 1, true, 4, 0, 1_000],
      [9_500, 0, true, 4, 0, 1_000],
      [9_500, 2, true, 2, 0, 3_000],
      [9_500, 5, false, 2, 3_000, 3_000],
      [15_000, 6, false, 5, never, 0],
    ],
  ],
]

describe.each(tables)('%s', (_, policy, rows) => {
  test('answers the table, row by row', () => {
    const key = keyOf(policy)
    for (const [now, cost, allowed, remaining, retryAfterMs, resetAfterMs] of rows) {
      expect({ now, cost, ...key.take(now, cost) }).toEqual({
        now,
        cost,
        allowed,
        remaining,
        retryAfterMs,
        resetAfterMs: expect.closeTo(resetAfterMs, 9),
        availableAfterMs: expect.any(Number),
      })
    }
  })
})
