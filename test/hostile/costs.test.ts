import { describe, expect, test } from '@jest/globals'
import { codeOf } from '../code-of.ts'
import { everyAlgorithm, MIB, scene } from '../floods/scene.ts'

const limiterOf = (algorithm: (typeof everyAlgorithm)[number]) =>
  scene([{ algorithm, limit: 10, window: '1m' }], MIB).limiter

const noNumbers = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  2 ** 53,
  '1',
  1n,
  null,
  [1],
  { valueOf: () => 1 },
]

describe.each(everyAlgorithm)('%s', (algorithm) => {
  test.each([...noNumbers, -1, -0.5, -1e-300, Symbol('cost')].map((cost) => [cost]))(
    'a cost of %p is rejected',
    (cost) => {
      const limiter = limiterOf(algorithm)
      expect(codeOf(() => limiter.take('key', cost as never))).toBe('SLUICE_BAD_COST')
      expect(limiter.peek('key').verdicts[0].remaining).toBe(10)
    },
  )

  test.each([...noNumbers, -(2 ** 53), Symbol('units')].map((units) => [units]))(
    'a charge of %p is rejected',
    (units) => {
      const limiter = limiterOf(algorithm)
      expect(codeOf(() => limiter.charge('key', units as never))).toBe('SLUICE_BAD_COST')
      expect(limiter.peek('key').verdicts[0].remaining).toBe(10)
    },
  )

  test('a cost of 0, -0 or a fraction is rounded to a whole number', () => {
    const limiter = limiterOf(algorithm)
    expect([0, -0, 0.1, 1.5].map((cost) => limiter.take('key', cost).verdicts[0].remaining)).toEqual([10, 10, 9, 7])
  })

  test('a cost above the limit is always denied and takes nothing', () => {
    const limiter = limiterOf(algorithm)
    for (const cost of [11, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      expect(limiter.take('key', cost)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
    }
    expect(limiter.peek('key').verdicts[0].remaining).toBe(10)
  })

  test('huge charges leave 0 units, and never a negative number', () => {
    const limiter = limiterOf(algorithm)
    for (let charge = 0; charge < 3; charge++) {
      expect(limiter.charge('key', Number.MAX_SAFE_INTEGER).verdicts[0].remaining).toBe(0)
    }
    expect(limiter.take('other').verdicts[0].remaining).toBe(9)
  })

  test('huge refunds never raise a key above its limit', () => {
    const limiter = limiterOf(algorithm)
    const taken = limiter.take('key', 3)
    expect(limiter.charge('key', -Number.MAX_SAFE_INTEGER, taken).verdicts[0].remaining).toBe(10)
    expect(limiter.take('key', 10).verdicts[0].remaining).toBe(0)
  })
})
