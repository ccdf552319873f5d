import type { CompiledPolicy } from '../contracts.ts'

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
