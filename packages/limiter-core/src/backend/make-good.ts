import type { Admitted, CompiledPolicy, PriorUsage } from '../contracts.ts'

/**
 * Makes good in cells what is known of a key and missing there: first what a backend had told of it, as far as more was
 * used than is by now; then what was admitted in its place, on top and up to the capacity.
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
    // it was in debt, or begins its window anew too soon
    if (compiled.resetAfterMs(cells, at, now) < resetAfterMs) compiled.adopt(cells, at, now, used, resetAfterMs)
  }
  if (!admitted) return
  const units = admittedUnits(admitted, usedUnits(compiled, cells, at, now))
  const fitting = Math.min(units, compiled.remaining(cells, at, now))
  if (fitting > 0) raise(compiled, cells, at, now, fitting, resetAfterMs)
}

/** Whether anything is missing in cells of what is known. */
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
 * Of a key of which nothing is used it is known when that will be so again; of another one the units are of now, unless
 * its cells have no place for them, as those of a clock that was ahead.
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
