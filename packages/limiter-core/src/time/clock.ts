import { AsyncResource } from 'node:async_hooks'
import type { Clock, TimerOptions } from '../contracts.ts'
import { optionalWith } from '../options/options.ts'

/** The longest timer: `setTimeout` fires at once above it. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1

// a timer keeps the async context in which it was created, including request data: all timers are created in this one
const outside = new AsyncResource('sluice.clock', { requireManualDestroy: true })

/** For a timer whose result is awaited. */
export const AWAITED: TimerOptions = { keepAlive: true }

/** `performance.now()` for limits, `Date.now()` for calendars, timers of any length. */
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
 * Returns the clock of an option: the system clock if there is none, which also supplies a missing `wall` or `after`.
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

/** Runs `run` when everything that this turn of the event loop brought has been handled: how calls of a turn are gathered. */
export function afterThisTurn(run: () => void): void {
  outside.runInAsyncScope(setImmediate, undefined, run)
}
