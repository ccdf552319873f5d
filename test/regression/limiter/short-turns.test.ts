import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const LIMIT = 5_000

// turns of less than a millisecond were taken for rounding errors, so that all callers received the same time
test.each(['fixed-window', 'sliding-window', 'token-bucket'] as const)(
  '%s: denied callers book turns of less than a millisecond',
  (algorithm) => {
    const clock = new FakeClock()
    const limiter = createLimiter({ policies: [{ algorithm, limit: LIMIT, window: '1s', retry: 'booked' }], clock })
    limiter.take('a', LIMIT)
    const returns = Array.from({ length: 4 * LIMIT }, () => limiter.take('a').retryAfterMs)
    const startMs = clock.now()
    let admitted = 0
    for (const afterMs of returns) {
      clock.advance(startMs + afterMs - clock.now())
      if (limiter.take('a').allowed) admitted++
    }
    expect(admitted).toBe(returns.length)
  },
)
