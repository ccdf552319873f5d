import { expect, test } from '@jest/globals'
import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const windows = ['1s', '10s', '1m', '15m', '1h', '1d'] as const
const limits = [1, 2, 3, 5, 10, 20, 31, 32, 33, 40, 64, 100, 333, 1_000, 10_000]
const ROUNDS = 20

/** Units admitted, in limits, for a client that sends until it is denied and then waits the `Retry-After` seconds. */
function share(policy: Omit<PolicyInput, 'backend'>): { share: number; longestMs: number } {
  const clock = new FakeClock({ nowMs: 1_000 })
  const limiter = createLimiter({ policies: [policy], clock })
  const windowMs = { '1s': 1e3, '10s': 1e4, '1m': 6e4, '15m': 9e5, '1h': 36e5, '1d': 864e5 }[policy.window as '1s']
  let taken = 0
  let longestMs = 0
  for (const end = clock.now() + ROUNDS * windowMs; clock.now() < end; ) {
    const { allowed, retryAfterMs } = limiter.take('obedient')
    if (allowed) taken++
    else clock.advance(Math.ceil(retryAfterMs / 1_000) * 1_000)
    longestMs = Math.max(longestMs, retryAfterMs)
  }
  limiter.close()
  return { share: taken / ROUNDS / policy.limit, longestMs: longestMs / windowMs }
}

// a unit of the burst was available only after W × (1 + 1 / L), and then one at a time
test.each(windows)(
  'under any limit in %s, a client that obeys Retry-After gets the full limit and never waits longer than needed',
  (window) => {
    for (const limit of limits) {
      expect({ limit, ...share({ limit, window, algorithm: 'sliding-window' }) }).toEqual({
        limit,
        share: 1,
        longestMs: 1,
      })
    }
  },
)
