import type { AdmittedUnits, CompiledPolicy, PriorUsage } from '../contracts.ts'

/**
 * Restores usage that is missing in the cells of a key: first the usage that the backend had reported, if it exceeds
 * the current usage, then units that a process admitted without the backend, up to the capacity. Booked turns remain.
 */
export function restoreUsage(
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
    // true if the key was in debt, or if its window would end too early
    if (compiled.resetAfterMs(cells, at, now) < resetAfterMs) compiled.adopt(cells, at, now, used, resetAfterMs)
  }
  if (!admitted) return
  const units = admittedUnits(admitted, usedUnits(compiled, cells, at, now))
  const fitting = Math.min(units, compiled.capacity - usedUnits(compiled, cells, at, now))
  if (fitting > 0) raise(compiled, cells, at, now, fitting, resetAfterMs)
}

/** Whether the cells lack a part of the known usage. */
export function lacksUsage(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  { used, admitted }: PriorUsage,
): boolean {
  const usedNow = usedUnits(compiled, cells, at, now)
  return used > usedNow || (admitted !== undefined && admittedUnits(admitted, usedNow) > 0)
}

function admittedUnits({ uncounted, unsure, upTo }: AdmittedUnits, used: number): number {
  return uncounted + Math.max(0, Math.min(unsure, upTo - used))
}

/**
 * Adds units to the usage of a key. A used key is charged at the current time. If the key is unused, or cannot be
 * charged because its clock was ahead, its cells are written with the known reset time.
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
  return compiled.capacity - (compiled.bookings?.inner ?? compiled).remaining(cells, at, now)
}
