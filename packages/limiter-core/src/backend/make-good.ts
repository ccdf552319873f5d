import type { Admitted, CompiledPolicy, PriorUsage } from '../contracts.ts'

/**
 * Restores units in cells that are missing there: first the usage that a backend had reported, as far as it still
 * counts and exceeds the current usage, then the units that were admitted in its place, up to the capacity.
 */
export function makeGood(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  known: PriorUsage,
): void {
  const { used, resetAfterMs, admitted } = known
  const missing = used - usedUnits(compiled, cells, at, now)
  if (missing > 0) {
    raise(compiled, cells, at, now, missing, resetAfterMs)
    // the key was in debt, or its window would restart too early
    if (compiled.resetAfterMs(cells, at, now) < resetAfterMs) compiled.adopt(cells, at, now, used, resetAfterMs)
  }
  if (!admitted) return
  const units = admittedUnits(admitted, usedUnits(compiled, cells, at, now))
  const fitting = Math.min(units, compiled.remaining(cells, at, now))
  if (fitting > 0) raise(compiled, cells, at, now, fitting, resetAfterMs)
}

/** Whether the cells lack any of the known usage. */
export function isMissing(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  { used, admitted }: PriorUsage,
): boolean {
  const usedNow = usedUnits(compiled, cells, at, now)
  return used > usedNow || (admitted !== undefined && admittedUnits(admitted, usedNow) > 0)
}

function admittedUnits({ uncounted, unsure, upTo }: Admitted, used: number): number {
  return uncounted + Math.max(0, Math.min(unsure, upTo - used))
}

/**
 * Raises the usage of a key. The reset time of an unused key is known; for other keys the units are charged at the
 * current time, unless the cells have no room for them, as after a clock that was ahead.
 */
function raise(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  units: number,
  resetAfterMs: number,
): void {
  const used = usedUnits(compiled, cells, at, now)
  if (used > 0 && compiled.adjust(cells, at, now, units, now) === units) return
  compiled.adopt(cells, at, now, used + units, Math.max(resetAfterMs, compiled.resetAfterMs(cells, at, now)))
}

function usedUnits(compiled: CompiledPolicy, cells: Float64Array, at: number, now: number): number {
  return compiled.capacity - compiled.remaining(cells, at, now)
}
