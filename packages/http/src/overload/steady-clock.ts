import type { Clock } from '@sluice/limiter-core'
import { isSystemClock } from '@sluice/limiter-core/http'

/**
 * Returns a clock whose `now` never goes back: after the given clock was set back, time continues from the last reading.
 * Otherwise, whatever was to last a second would last until the given clock had caught up.
 */
export function steadyClock(clock: Clock): Clock {
  // it never goes back, and its callers recognise it
  if (isSystemClock(clock)) return clock
  let last = clock.now()
  let steady = last
  return {
    now() {
      const now = clock.now()
      // NaN, and numbers to which milliseconds cannot be added
      if (!(Math.abs(now) <= Number.MAX_SAFE_INTEGER)) return steady
      if (now > last) steady += now - last
      last = now
      return steady
    },
    wall: () => clock.wall(),
    after: (ms, run, options) => clock.after(ms, run, options),
  }
}
