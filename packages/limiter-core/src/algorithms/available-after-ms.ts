import type { CompiledPolicy } from '../contracts.ts'
import { AVAILABLE_AFTER, REMAINING, RESET_AFTER, WAIT } from './verdict-numbers.ts'

/** Returns the whole milliseconds until more than `remaining` units are free without requests; 0 for an unused key. */
export function availableAfterMs(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  remaining: number,
): number {
  return remaining >= compiled.capacity ? 0 : compiled.waitMs(cells, at, now, remaining + 1)
}

/** Writes the numbers of a verdict with the wait `waitMs` of its cost. `by` is the policy that decisions refer to. */
export function writeNumbers(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  waitMs: number,
  numbers: Float64Array,
  by: CompiledPolicy = compiled,
): void {
  const remaining = compiled.remaining(cells, at, now)
  numbers[WAIT] = waitMs
  numbers[REMAINING] = remaining
  numbers[RESET_AFTER] = compiled.resetAfterMs(cells, at, now)
  numbers[AVAILABLE_AFTER] = availableAfterMs(by, cells, at, now, remaining)
}
