import { describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const onePolicy = () => createLimiter({ policies: [{ limit: 10, window: '1m' }], clock: new FakeClock() })
const twoPolicies = () =>
  createLimiter({
    policies: [
      { limit: 10, window: '1m' },
      { name: 'other', limit: 50, window: '1m', algorithm: 'gcra' },
    ],
    clock: new FakeClock(),
  })

describe.each([
  ['one policy', onePolicy],
  ['two policies', twoPolicies],
])('a cost under %s', (_, make) => {
  test('is 1 by default', () => {
    const limiter = make()
    expect(limiter.take('key').verdicts[0].remaining).toBe(9)
  })

  test('of 0 takes nothing, and is allowed even if nothing is left', () => {
    const limiter = make()
    expect(limiter.take('key', 0).verdicts[0]).toMatchObject({ remaining: 10, resetAfterMs: 0 })
    limiter.take('key', 10)
    expect(limiter.take('key', 0)).toMatchObject({ allowed: true, retryAfterMs: 0 })
  })

  test('of -0 counts as 0', () => {
    expect(make().take('key', -0).verdicts[0].remaining).toBe(10)
  })

  test('above the limit never fits: the wait is Infinity, and nothing is taken', () => {
    const limiter = make()
    for (const cost of [11, 1e9, Number.MAX_SAFE_INTEGER]) {
      expect(limiter.take('key', cost)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
    }
    expect(limiter.peek('key').verdicts[0].remaining).toBe(10)
  })

  test('with a fraction is rounded up to a whole unit', () => {
    const limiter = make()
    expect(limiter.take('key', 0.001).verdicts[0].remaining).toBe(9)
    expect(limiter.take('key', 1.5).verdicts[0].remaining).toBe(7)
  })

  test.each([-1, -0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, 1e308])(
    'of %d is rejected with SLUICE_BAD_COST, and nothing is taken',
    (cost) => {
      const limiter = make()
      expect(() => limiter.take('key', cost)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_COST' }))
      expect(() => limiter.peek('key', cost)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_COST' }))
      expect(limiter.peek('key').verdicts[0].remaining).toBe(10)
    },
  )

  test.each(['5', '', true, 5n, [], {}, null])('that is not a number is rejected: %p', (cost) => {
    const limiter = make()
    expect(() => limiter.take('key', cost as number)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_COST' }))
  })
})

describe('units of a charge', () => {
  test('round away from zero when charged and towards zero when refunded', () => {
    const limiter = onePolicy()
    const taken = limiter.take('key', 5)
    expect(limiter.charge('key', 0.5, taken).binding.remaining).toBe(4)
    expect(limiter.charge('key', -1.5, taken).binding.remaining).toBe(5)
    expect(limiter.charge('key', -0.5, taken).binding.remaining).toBe(5)
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, -(2 ** 53)])(
    'of %d are rejected with SLUICE_BAD_COST',
    (units) => {
      expect(() => onePolicy().charge('key', units)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_COST' }))
    },
  )

  test('count at the current time, unless a take is named', () => {
    const limiter = onePolicy()
    expect(limiter.charge('key', 12).binding).toMatchObject({ remaining: 0, allowed: true })
    expect(limiter.take('key').allowed).toBe(false)
    limiter.charge('key', -12)
    expect(limiter.peek('key').binding.remaining).toBe(10)
  })

  test('may be as large as possible and still give correct results', () => {
    const limiter = onePolicy()
    for (let charges = 0; charges < 3; charges++) limiter.charge('key', Number.MAX_SAFE_INTEGER)
    const { allowed, binding, retryAfterMs } = limiter.take('key')
    expect([allowed, binding.remaining, Number.isFinite(retryAfterMs)]).toEqual([false, 0, true])
  })
})
