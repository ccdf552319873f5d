import type { CompiledPolicy } from '../contracts.ts'

/**
 * Returns the milliseconds, an integer, until more than `remaining` units are available if no other request arrives; 0
 * for an unused key.
 */
export function availableAfterMs(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  remaining: number,
): number {
  return remaining >= compiled.capacity ? 0 : compiled.waitMs(cells, at, now, remaining + 1)
}
