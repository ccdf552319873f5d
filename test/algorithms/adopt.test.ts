import { describe, expect, test } from '@jest/globals'
import { PolicyDriver } from '@sluice/testkit'
import { algorithmNames } from './any-policy.ts'
import { keyOf } from './compiled-of.ts'

const limit = 6
const windowMs = 60_000

describe.each(algorithmNames)('a key that %s adopts', (algorithm) => {
  const adopt = (used: number, resetAfterMs: number): PolicyDriver => {
    const key = keyOf({ algorithm, limit, windowMs })
    key.adopt(1_000.5, used, resetAfterMs)
    return key
  }

  test('is denied if nothing was left, and is fully reset at its reset time, plus 1 ms at most', () => {
    // a bucket that lacks less than one unit still has something left
    const bucket = algorithm === 'gcra' || algorithm === 'token-bucket'
    for (const resetAfterMs of bucket ? [50_001, 60_000, 90_000.25] : [1, 7.25, 1_000, 59_999, 60_000]) {
      const key = adopt(limit, resetAfterMs)
      expect(key.peek(1_000.5, 1).allowed).toBe(false)
      expect(key.peek(1_000.5, 0).resetAfterMs).toBeLessThanOrEqual(resetAfterMs + 0.001)
      expect(key.peek(1_000.5 + resetAfterMs + 1, limit)).toMatchObject({
        allowed: true,
        remaining: limit,
        resetAfterMs: 0,
      })
    }
  })

  test('has at most as much left as the other backend reported', () => {
    for (let used = 0; used <= limit; used++) {
      const { remaining } = adopt(used, 30_000).peek(1_000.5, 0)
      expect(remaining).toBeLessThanOrEqual(algorithm === 'gcra' || algorithm === 'token-bucket' ? limit : limit - used)
      expect(remaining).toBeGreaterThanOrEqual(limit - used)
    }
  })

  test('is new if nothing was used or the reset has passed', () => {
    for (const key of [adopt(0, 30_000), adopt(0, 0), adopt(limit, 0), adopt(3, -5)]) {
      expect(key.peek(1_000.5, limit)).toMatchObject({ allowed: true, remaining: limit, resetAfterMs: 0 })
    }
  })

  test('discards the previous contents of its cells', () => {
    const key = keyOf({ algorithm, limit, windowMs })
    key.take(900, limit)
    key.adopt(1_000.5, 2, 30_000)
    const fresh = adopt(2, 30_000)
    for (const now of [1_000.5, 20_000, 31_002]) expect(key.peek(now, 1)).toEqual(fresh.peek(now, 1))
  })
})

describe('a key in debt', () => {
  test.each(['token-bucket', 'gcra'] as const)('stays in debt when %s adopts it', (algorithm) => {
    const key = keyOf({ algorithm, limit, windowMs })
    key.adjust(0, 3 * limit, 0)
    const known = key.peek(0, 1)
    const heir = new PolicyDriver(key.compiled)
    heir.adopt(0, limit - known.remaining, known.resetAfterMs)
    expect(heir.peek(0, 1)).toEqual(known)
  })

  test('stays denied until its window ends when fixed-window or slices adopt it', () => {
    for (const shape of [{ algorithm: 'fixed-window' }, { algorithm: 'sliding-window', slices: 4 }] as const) {
      const key = keyOf({ ...shape, limit, windowMs })
      key.adjust(0, 3 * limit, 0)
      const known = key.peek(10, 1)
      const heir = new PolicyDriver(key.compiled)
      heir.adopt(10, limit, known.resetAfterMs)
      expect(heir.peek(10, 1)).toEqual(known)
    }
  })
})
