import type { Step } from '../contracts.ts'

/** Whole ms until more than the `remaining` units fit that fit now, if nothing else comes; 0 for a key that is full. */
export function availableAfterMs(step: Step, cells: Float64Array, at: number, now: number, remaining: number): number {
  return remaining >= step.capacity ? 0 : step.waitMs(cells, at, now, remaining + 1)
}
