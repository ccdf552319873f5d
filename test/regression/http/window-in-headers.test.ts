import { expect, test } from '@jest/globals'
import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { baseSeed, FakeClock, seededRandom } from '@sluice/testkit'
import { entryOf, linesOf } from '../../http/header-fields.ts'

const READINGS = 2_000

test.each<[NonNullable<PolicyInput['algorithm']>, number]>([
  ['fixed-window', 60],
  ['sliding-window', 60],
  ['sliding-log', 60],
  ['token-bucket', 60],
  ['gcra', 60],
])(
  'the first request of a key with %s has t=%d, whatever fraction of a millisecond the clock reads',
  (algorithm, seconds) => {
    const random = seededRandom(baseSeed())
    const clock = new FakeClock()
    const limiter = createLimiter({ policies: [{ name: 'api', limit: 1, window: '1m', algorithm }], clock })
    const shown = new Set<string>()
    for (let reading = 0; reading < READINGS; reading++) {
      // a real clock has nanosecond fractions, which a double cannot represent exactly
      clock.advance(random.whole(1e9) * 1e-6)
      const first = limiter.take(`key ${reading}`)
      shown.add(linesOf([entryOf(first)]).RateLimit)
      expect(limiter.take(`key ${reading}`, 1, { now: first.takenAt }).retryAfterMs).toBe(seconds * 1_000)
    }
    expect([...shown]).toEqual([`"api";r=0;t=${seconds}`])
    limiter.close()
  },
)
