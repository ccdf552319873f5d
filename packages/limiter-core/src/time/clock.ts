import { AsyncResource } from 'node:async_hooks'
import type { Clock, TimerOptions } from '../contracts.ts'
import { optionalWith } from '../options/options.ts'

/** The longest timer, about 24.8 days. `setTimeout` runs longer timers at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1

// a timer retains the async context in which it is created, including request data, so timers are created in this one
const outside = new AsyncResource('sluice.clock', { requireManualDestroy: true })

/** Options of timers whose result a caller awaits. */
export const KEEP_ALIVE: TimerOptions = { keepAlive: true }

/** The default clock: `performance.now()` for limits, `Date.now()` for calendars. Its timers may have any length. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, run, options) {
    let timer: NodeJS.Timeout | undefined
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, MAX_TIMER_MS)
      timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), stepMs)
      if (options?.keepAlive !== true) timer.unref()
    }
    outside.runInAsyncScope(arm, undefined, Math.max(0, ms))
    return () => clearTimeout(timer)
  },
}

/**
 * Returns a complete clock for the option `clock`. The system clock is the default, and supplies a missing `wall` or
 * `after`. Throws `SLUICE_BAD_OPTION` if the option has no `now`.
 */
export function clockOf(clock: Partial<Clock> | undefined): Clock {
  if (clock === undefined) return systemClock
  optionalWith('clock', clock, ['now'], 'a clock with now, wall and after')
  const { now, wall, after } = clock
  if (now && wall && after) return clock as Clock
  return {
    now: () => clock.now?.() ?? systemClock.now(),
    wall: () => clock.wall?.() ?? systemClock.wall(),
    after: (ms, run, options) => (clock.after ? clock.after(ms, run, options) : systemClock.after(ms, run, options)),
  }
}

/** Calls `run` after all events of the current turn of the event loop, so that calls of one turn can be batched. */
export function afterThisTurn(run: () => void): void {
  outside.runInAsyncScope(setImmediate, undefined, run)
}
