import type { CompiledPolicy, Held, PolicyHolds } from '../contracts.ts'
import { writeNumbers } from './available-after-ms.ts'
import { WrappedPolicy } from './wrapped-policy.ts'

/** Number of slices in the longest hold. */
const SLICES = 8
/** A hold of the longest duration ends in one of `SLICES + 1` slices. */
const SLOTS = SLICES + 1

/** Returns the length of the slices in which holds of a policy end. */
export function sliceMsOf(maxHoldMs: number): number {
  return Math.max(1, Math.ceil(maxHoldMs / SLICES))
}

/** Returns the part for holds in the name of a count; see `PolicyVariants#layoutName`. */
export function holdsName(sliceMs: number): string {
  return `/holds${sliceMs}`
}

/**
 * A policy whose units can be held. Its cells are those of the policy, then the end of the last slice, then the units
 * held until the end of each slice, the last slice first. Units whose slice has ended are free without a write, so a
 * process that ends without settling its holds leaves nothing behind.
 *
 * Guarantee: used and held units together follow the guarantee of the policy.
 */
export class HoldingPolicy extends WrappedPolicy implements PolicyHolds {
  readonly instants: readonly number[] | undefined
  readonly sliceMs: number
  readonly holds: PolicyHolds = this
  /** Index of the cell with the end of the last slice. */
  readonly #end: number

  /** `sliceMs`: see `sliceMsOf`. */
  constructor(inner: CompiledPolicy, sliceMs: number) {
    super(inner, 1 + SLOTS)
    this.instants = inner.instants && [...inner.instants, inner.cells]
    this.sliceMs = sliceMs
    this.#end = inner.cells
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0) return 0
    let held = this.#held(cells, at, now)
    if (held === 0) return this.inner.waitMs(cells, at, now, cost)
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    // held units return one slice after the other, and used units meanwhile
    let sinceMs = 0
    for (let slot = SLOTS - 1; slot >= 0 && held > 0; slot--) {
      const untilMs = Math.max(0, Math.ceil(this.#endOf(cells, at, slot) - now))
      const units = cells[at + this.#end + 1 + slot]
      if (untilMs === 0 || units === 0) continue
      const waitMs = cost + held > this.capacity ? untilMs : this.inner.waitMs(cells, at, now, cost + held)
      if (waitMs < untilMs) return Math.max(sinceMs, waitMs)
      held -= units
      sinceMs = untilMs
    }
    return Math.max(sinceMs, this.inner.waitMs(cells, at, now, cost))
  }

  take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void {
    const { inner } = this
    // most keys hold nothing
    if (inner.take && cells[at + this.#end] <= now) {
      inner.take(cells, at, now, cost, numbers)
      return
    }
    const waitMs = this.waitMs(cells, at, now, cost)
    if (waitMs === 0 && cost > 0) this.spend(cells, at, now, cost)
    writeNumbers(this, cells, at, now, waitMs, numbers)
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.inner.remaining(cells, at, now) - this.#held(cells, at, now))
  }

  override resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return Math.max(this.inner.resetAfterMs(cells, at, now), this.#heldMs(cells, at, now))
  }

  override keptMs(cells: Float64Array, at: number, now: number): number {
    return Math.max(super.keptMs(cells, at, now), this.#heldMs(cells, at, now))
  }

  override adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    super.adopt(cells, at, now, used, resetAfterMs)
    cells.fill(0, at + this.#end, at + this.cells)
  }

  endsAt(now: number, forMs: number): number {
    const longest = Math.min(forMs, SLICES * this.sliceMs)
    return (Math.floor((now + longest) / this.sliceMs) + 1) * this.sliceMs
  }

  heldOf(cells: Float64Array, at: number, now: number, { units, endsAt }: Held): number {
    if (endsAt <= now) return 0
    let found = 0
    // in its own slice, or in a later one if the clock was set back
    for (let slot = this.#slotOf(cells, at, endsAt); slot >= 0; slot--) found += cells[at + this.#end + 1 + slot]
    return Math.min(units, found)
  }

  hold(cells: Float64Array, at: number, now: number, { units, endsAt }: Held): void {
    if (units === 0) return
    const end = at + this.#end
    if (cells[end] === endsAt && cells[end + 1] > 0) {
      cells[end + 1] += units
      return
    }
    if (this.#heldMs(cells, at, now) === 0) cells.fill(0, end, at + this.cells)
    if (cells[end] === 0) cells[end] = endsAt
    const later = Math.round((endsAt - cells[end]) / this.sliceMs)
    if (later > 0) this.#moveOn(cells, at, now, later)
    cells[end + 1 + Math.min(SLOTS - 1, Math.max(0, -later))] += units
  }

  release(cells: Float64Array, at: number, now: number, held: Held): void {
    let units = this.heldOf(cells, at, now, held)
    for (let slot = this.#slotOf(cells, at, held.endsAt); units > 0 && slot >= 0; slot--) {
      const cell = at + this.#end + 1 + slot
      const released = Math.min(units, cells[cell])
      cells[cell] -= released
      units -= released
    }
  }

  /** Makes the last slice end `slices` slices later. */
  #moveOn(cells: Float64Array, at: number, now: number, slices: number): void {
    const end = at + this.#end
    const first = end + 1
    let kept = 0
    // after the clock was set back, units of the earliest slices may still be held
    for (let slot = Math.max(0, SLOTS - slices); slot < SLOTS; slot++) {
      if (this.#endOf(cells, at, slot) > now) kept += cells[first + slot]
    }
    if (slices < SLOTS) cells.copyWithin(first + slices, first, first + SLOTS - slices)
    cells.fill(0, first, first + Math.min(slices, SLOTS))
    cells[first + SLOTS - 1] += kept
    cells[end] += slices * this.sliceMs
  }

  #endOf(cells: Float64Array, at: number, slot: number): number {
    return cells[at + this.#end] - slot * this.sliceMs
  }

  /** Returns the slot of the slice that ends at `endsAt`, or the earliest slot after it; negative if there is none. */
  #slotOf(cells: Float64Array, at: number, endsAt: number): number {
    return Math.min(SLOTS - 1, Math.round((cells[at + this.#end] - endsAt) / this.sliceMs))
  }

  #held(cells: Float64Array, at: number, now: number): number {
    let held = 0
    // most keys hold nothing
    if (cells[at + this.#end] <= now) return 0
    for (let slot = 0; slot < SLOTS && this.#endOf(cells, at, slot) > now; slot++) {
      held += cells[at + this.#end + 1 + slot]
    }
    return held
  }

  /** Returns the milliseconds until nothing is held. */
  #heldMs(cells: Float64Array, at: number, now: number): number {
    for (let slot = 0; slot < SLOTS; slot++) {
      const leftMs = this.#endOf(cells, at, slot) - now
      if (leftMs <= 0) return 0
      if (cells[at + this.#end + 1 + slot] > 0) return leftMs
    }
    return 0
  }
}
