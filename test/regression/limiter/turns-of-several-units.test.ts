import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const LIMIT = 101
/** Clients beyond the limit: six windows of 50 clients with two units each. */
const CLIENTS = 300

// turns were rounded up to whole units: a cost of 2 booked 3 units, and a third of the limit was unused
test.each(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const)(
  '%s: clients with a cost of 2 use an odd limit',
  (algorithm) => {
    const clock = new FakeClock()
    const limiter = createLimiter({ policies: [{ algorithm, limit: LIMIT, window: '1m', retry: 'booked' }], clock })
    for (let times = 0; times < 50; times++) limiter.take('a', 2)
    const returns = Array.from({ length: CLIENTS }, () => limiter.take('a', 2).retryAfterMs)
    expect(returns[CLIENTS - 1]).toBeLessThan(7.3 * 60_000)
    const startMs = clock.now()
    for (const afterMs of returns) {
      clock.advance(startMs + afterMs - clock.now())
      expect(limiter.take('a', 2).allowed).toBe(true)
    }
  },
)
