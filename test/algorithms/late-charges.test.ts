import { describe, expect, test } from '@jest/globals'
import { keyOf } from './compiled-of.ts'

const windows = ['fixed-window', 'sliding-window', 'sliding-log'] as const
const buckets = ['token-bucket', 'gcra'] as const
const limit = 8

describe('a late charge', () => {
  test.each(buckets)('becomes debt under %s, which must drain before another unit fits', (algorithm) => {
    const key = keyOf({ algorithm, limit: 10, windowMs: 10_000 })
    key.take(0, 10)
    expect(key.adjust(60_000, 25, 0)).toBe(25)
    expect(key.peek(60_000, 1)).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 16_000 })
  })

  // 3 × 3,333.3… ms, divided again, does not give exactly 3 units
  test.each(buckets)('is charged in full under %s, however long a unit lasts', (algorithm) => {
    for (let units = 1; units <= 100; units++) {
      for (const every of [3, 7, 9, 11, 13]) {
        expect(keyOf({ algorithm, limit: every, windowMs: 10_000 }).adjust(5, units, 5)).toBe(units)
      }
    }
  })

  test('is dropped if its window has passed', () => {
    for (const algorithm of windows) {
      const key = keyOf({ algorithm, limit })
      key.take(0, 1)
      key.take(5_000, 1)
      expect(key.adjust(5_000, 3, 0)).toBe(0)
      expect(key.peek(5_000, 0).remaining).toBe(limit - 1)
    }
  })

  test('counts in a window that is still open', () => {
    for (const algorithm of windows) {
      const key = keyOf({ algorithm, limit })
      key.take(0, 1)
      expect(key.adjust(900, 3, 0)).toBe(3)
      expect(key.peek(900, 0).remaining).toBe(limit - 4)
    }
  })

  test('opens the window that a take of 0 units would have opened', () => {
    for (const algorithm of windows) {
      const key = keyOf({ algorithm, limit })
      key.take(100.125, 0)
      expect(key.adjust(900, 3, 100.125)).toBe(3)
      expect(key.peek(900, 0).remaining).toBe(limit - 3)
      expect(key.peek(1_100.125, 0).remaining).toBe(limit)
    }
  })
})
