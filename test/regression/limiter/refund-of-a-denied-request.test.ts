import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

test('a refund of a denied request returns nothing', () => {
  const limiter = createLimiter({
    policies: [{ limit: 10, window: '1m', algorithm: 'fixed-window' }],
    clock: new FakeClock(),
  })
  limiter.take('a', 2)
  limiter.charge('a', -2, limiter.take('a', 20))
  expect(limiter.peek('a', 0).binding.remaining).toBe(8)
  limiter.close()
})
