import type { CompiledPolicy } from '../contracts.ts'

/** Whole ms until more than the `remaining` units fit that fit now, if nothing else comes; 0 for a key that is full. */
export function availableAfterMs(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  remaining: number,
): number {
  return remaining >= compiled.capacity ? 0 : compiled.waitMs(cells, at, now, remaining + 1)
}
