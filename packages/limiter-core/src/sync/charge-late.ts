import { forgetsMs } from '../algorithms/forgets-ms.ts'
import { drainPerMs } from '../algorithms/policy-forms.ts'
import type { CompiledPolicy } from '../contracts.ts'

/** Up to how late units may be charged to a window that was opened after their take; 0 where units drain, and have no window. */
export function lateMs({ policy, variants }: CompiledPolicy): number {
  return drainPerMs(policy) > 0 && !variants ? 0 : policy.windowMs
}

/** After so long units that fitted when they were taken matter no more. Those that drain have left a full bucket by then. */
export function mattersMs(compiled: CompiledPolicy): number {
  const perMs = compiled.variants ? 0 : drainPerMs(compiled.policy)
  return perMs > 0 ? compiled.capacity / perMs : forgetsMs(compiled)
}

/**
 * Charges units that were taken at `takenAt`, or gives them back where they are below 0. Those that drain do so since
 * their take. A window that another process opened a moment later counts them as well: they would else be lost. Answers
 * the units that found their place.
 */
export function chargeLate(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  units: number,
  takenAt: number,
): number {
  const mostMs = lateMs(compiled)
  if (units > 0 && mostMs === 0) return compiled.adjust(cells, at, takenAt, units, takenAt)
  const moved = compiled.adjust(cells, at, now, units, takenAt)
  const rest = units - moved
  if (!(rest > 0) || now - takenAt >= mostMs) return moved
  return moved + compiled.adjust(cells, at, now, rest, now)
}

/** Undoes `chargeLate` in cells of its own, at 0. */
export function takeBack(
  compiled: CompiledPolicy,
  cells: Float64Array,
  now: number,
  units: number,
  takenAt: number,
): void {
  if (units <= 0) return void chargeLate(compiled, cells, 0, now, -units, takenAt)
  const rest = units + compiled.adjust(cells, 0, now, -units, takenAt)
  if (rest > 0 && now - takenAt < lateMs(compiled)) compiled.adjust(cells, 0, now, -rest, now)
}
