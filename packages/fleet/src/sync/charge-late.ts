import { type CompiledPolicy, drainPerMs, retentionMs } from '@sluice/limiter-core/backend'

/**
 * Returns how many milliseconds after their take units may still be charged to a window that was opened later; 0 for
 * draining algorithms, which have no window.
 */
export function maxLateMs({ policy, variants }: CompiledPolicy): number {
  return drainPerMs(policy) > 0 && !variants ? 0 : policy.windowMs
}

/**
 * Returns the milliseconds after which units that fitted when they were taken no longer affect any decision. With a
 * draining algorithm, the full limit is available again by then.
 */
export function relevantMs(compiled: CompiledPolicy): number {
  const perMs = compiled.variants ? 0 : drainPerMs(compiled.policy)
  return perMs > 0 ? compiled.capacity / perMs : retentionMs(compiled)
}

/**
 * Charges units that were taken at `takenAt`; negative units are refunds. With a draining algorithm, they drain from
 * `takenAt` on. If another process opened the window slightly after `takenAt`, the units are charged to that window,
 * because they would be lost otherwise. Returns the units that were applied.
 */
export function chargeLate(
  compiled: CompiledPolicy,
  cells: Float64Array,
  at: number,
  now: number,
  units: number,
  takenAt: number,
): number {
  const mostMs = maxLateMs(compiled)
  if (units > 0 && mostMs === 0) return compiled.adjust(cells, at, takenAt, units, takenAt)
  const moved = compiled.adjust(cells, at, now, units, takenAt)
  const rest = units - moved
  if (!(rest > 0) || now - takenAt >= mostMs) return moved
  return moved + compiled.adjust(cells, at, now, rest, now)
}

/** Reverts `chargeLate` in a copy of the cells that starts at offset 0. */
export function revertLateCharge(
  compiled: CompiledPolicy,
  cells: Float64Array,
  now: number,
  units: number,
  takenAt: number,
): void {
  if (units <= 0) return void chargeLate(compiled, cells, 0, now, -units, takenAt)
  const rest = units + compiled.adjust(cells, 0, now, -units, takenAt)
  if (rest > 0 && now - takenAt < maxLateMs(compiled)) compiled.adjust(cells, 0, now, -rest, now)
}
