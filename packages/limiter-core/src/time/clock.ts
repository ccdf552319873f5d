import type { Clock, TimerOptions } from '../contracts.ts'
import { optionalWith } from '../options/options.ts'
import { outsideContext } from '../process/async-context.ts'

/** The longest timer, about 24.8 days. `setTimeout` runs longer timers at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1

/** Options of timers whose result a caller awaits. */
export const KEEP_ALIVE: TimerOptions = { keepAlive: true }

const IS_SYSTEM = Symbol.for('sluice.systemClock')

/** The default clock: `performance.now()` for limits, `Date.now()` for calendars. Its timers may have any length. */
export const systemClock: Clock = {
  [IS_SYSTEM as never]: true,
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, run, options) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, MAX_TIMER_MS)
      timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), stepMs)
      // timers of browsers and of Workers are numbers, which keep nothing alive
      if (options?.keepAlive !== true) timer.unref?.()
    }
    outsideContext(() => arm(Math.max(0, ms)))
    return () => clearTimeout(timer)
  },
}

/** Whether a clock is the `systemClock` of this or another copy of the package. */
export function isSystemClock(clock: Clock): boolean {
  return IS_SYSTEM in clock
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
  outsideContext(() => (typeof setImmediate === 'function' ? setImmediate(run) : setTimeout(run, 0)))
}

/**
 * Calls `run` every `tickMs` milliseconds. The first call is delayed by a random part of `tickMs`, so that processes do
 * not all call a server at the same time. Returns a function that stops the calls.
 */
export function repeatEvery(clock: Clock, tickMs: number, run: () => void): () => void {
  let cancel = clock.after(Math.random() * tickMs, next)
  function next(): void {
    cancel = clock.after(tickMs, next)
    run()
  }
  return () => cancel()
}
