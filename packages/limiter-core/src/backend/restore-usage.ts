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
  const { used, held = 0, resetAfterMs, admitted } = known
  const missing = used - countedUnits(compiled, cells, at, now)
  const missingHeld = Math.min(missing, held - heldUnits(compiled, cells, at, now))
  const unheld = missing - Math.max(0, missingHeld)
  if (unheld > 0) {
    raise(compiled, cells, at, now, unheld, resetAfterMs)
    // true if the key was in debt, or if its window would end too early
    const restored = used + unheld - missing
    if (compiled.resetAfterMs(cells, at, now) < resetAfterMs) compiled.adopt(cells, at, now, restored, resetAfterMs)
  }
  const endsAt = compiled.holds?.endsAt(now, Number.POSITIVE_INFINITY) ?? 0
  if (missingHeld > 0) compiled.holds?.hold(cells, at, now, missingHeld, endsAt)
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
  if (used > countedUnits(compiled, cells, at, now)) return true
  return admitted !== undefined && admittedUnits(admitted, usedUnits(compiled, cells, at, now)) > 0
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

/**
 * Returns the units that count under any plan. All plans count each take, so a key that lacks units under one plan and
 * has them under another has lost nothing: they have ended there.
 */
export function countedUnits(compiled: CompiledPolicy, cells: Float64Array, at: number, now: number): number {
  const { variants } = compiled
  if (!variants) return usedUnits(compiled, cells, at, now)
  const held = heldUnits(compiled, cells, at, now)
  return held + Math.max(...variants.map((one) => usedUnits(one.compiled, cells, at + one.at, now)))
}

function heldUnits({ holds }: CompiledPolicy, cells: Float64Array, at: number, now: number): number {
  return holds?.heldOf(cells, at, now, Number.POSITIVE_INFINITY, now + holds.sliceMs / 2) ?? 0
}

function usedUnits(compiled: CompiledPolicy, cells: Float64Array, at: number, now: number): number {
  return compiled.capacity - (compiled.bookings?.inner ?? compiled).remaining(cells, at, now)
}
