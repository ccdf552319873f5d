import type { CompiledPolicy, PolicyHolds } from '../contracts.ts'
import { WrappedPolicy } from './wrapped-policy.ts'

/** Number of slices in the longest hold. */
const SLICES = 8
/** A hold of the longest duration ends in one of `SLICES + 1` slices. */
const SLOTS = 9
/** Cells: the end of the last slice, and the units of each slice. */
const OWN_CELLS = 10

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
 * process that ends without settling its holds leaves nothing behind. Translated to Lua and PL/pgSQL; see
 * `UsagePolicy`.
 *
 * Guarantee: used and held units together follow the guarantee of the policy.
 */
export class HoldingPolicy extends WrappedPolicy implements PolicyHolds {
  readonly sliceMs: number
  readonly holds: PolicyHolds = this

  /** `sliceMs`: see `sliceMsOf`. */
  constructor(inner: CompiledPolicy, sliceMs: number) {
    super(inner, OWN_CELLS)
    this.sliceMs = sliceMs
  }

  override take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void {
    // most keys hold nothing
    if (cells[at + this.first] <= now) this.inner.take(cells, at, now, cost, numbers)
    else super.take(cells, at, now, cost, numbers)
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0) return 0
    const held = this.#held(cells, at, now)
    if (held === 0) return this.inner.waitMs(cells, at, now, cost)
    return cost > this.capacity ? Number.POSITIVE_INFINITY : this.#waitBesideMs(cells, at, now, cost, held)
  }

  /** Returns the wait of a cost: held units return one slice after the other, and used units meanwhile. */
  #waitBesideMs(cells: Float64Array, at: number, now: number, cost: number, held: number): number {
    let left = held
    let sinceMs = 0
    let waitMs = -1
    let slot = SLOTS - 1
    while (waitMs < 0 && slot >= 0 && left > 0) {
      const untilMs = Math.max(0, Math.ceil(this.#endOf(cells, at, slot) - now))
      const units = cells[at + this.first + 1 + slot]
      if (untilMs > 0 && units > 0) {
        const ownMs = cost + left > this.capacity ? untilMs : this.inner.waitMs(cells, at, now, cost + left)
        if (ownMs < untilMs) waitMs = Math.max(sinceMs, ownMs)
        left -= units
        sinceMs = untilMs
      }
      slot--
    }
    return waitMs < 0 ? Math.max(sinceMs, this.inner.waitMs(cells, at, now, cost)) : waitMs
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.inner.remaining(cells, at, now) - this.#held(cells, at, now))
  }

  override resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return Math.max(this.inner.resetAfterMs(cells, at, now), this.#heldMs(cells, at, now))
  }

  override keptMs(cells: Float64Array, at: number, now: number): number {
    return Math.max(this.inner.keptMs(cells, at, now), this.#heldMs(cells, at, now))
  }

  override adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    // held units are used, and stay held
    this.inner.adopt(cells, at, now, Math.max(0, used - this.#held(cells, at, now)), resetAfterMs)
  }

  endsAt(now: number, forMs: number): number {
    const longest = Math.min(forMs, SLICES * this.sliceMs)
    return (Math.floor((now + longest) / this.sliceMs) + 1) * this.sliceMs
  }

  heldOf(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number {
    if (endsAt <= now) return 0
    let found = 0
    // in its own slice, or in a later one if the clock was set back
    let slot = this.#slotOf(cells, at, endsAt)
    while (slot >= 0) {
      found += cells[at + this.first + 1 + slot]
      slot--
    }
    return Math.min(units, found)
  }

  hold(cells: Float64Array, at: number, now: number, units: number, endsAt: number): void {
    if (units > 0) {
      if (this.#heldMs(cells, at, now) === 0) this.#clear(cells, at)
      if (cells[at + this.first] === 0) cells[at + this.first] = endsAt
      const later = Math.floor((endsAt - cells[at + this.first]) / this.sliceMs + 0.5)
      if (later > 0) this.#moveOn(cells, at, now, later)
      const slot = Math.min(SLOTS - 1, Math.max(0, -later))
      cells[at + this.first + 1 + slot] += units
    }
  }

  release(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number {
    const released = this.heldOf(cells, at, now, units, endsAt)
    let left = released
    let slot = this.#slotOf(cells, at, endsAt)
    while (left > 0 && slot >= 0) {
      const freed = Math.min(left, cells[at + this.first + 1 + slot])
      cells[at + this.first + 1 + slot] -= freed
      left -= freed
      slot--
    }
    return released
  }

  /** Makes the last slice end `slices` slices later. */
  #moveOn(cells: Float64Array, at: number, now: number, slices: number): void {
    let kept = 0
    let slot = SLOTS - 1
    while (slot >= 0) {
      const isLast = slot >= SLOTS - slices
      // after the clock was set back, units of the earliest slices may still be held
      if (isLast && this.#endOf(cells, at, slot) > now) kept += cells[at + this.first + 1 + slot]
      slot--
    }
    slot = SLOTS - 1
    while (slot >= 0) {
      const from = slot - slices
      if (from >= 0) cells[at + this.first + 1 + slot] = cells[at + this.first + 1 + from]
      else cells[at + this.first + 1 + slot] = 0
      slot--
    }
    cells[at + this.first + SLOTS] += kept
    cells[at + this.first] += slices * this.sliceMs
  }

  #clear(cells: Float64Array, at: number): void {
    let cell = 0
    while (cell < OWN_CELLS) {
      cells[at + this.first + cell] = 0
      cell++
    }
  }

  #endOf(cells: Float64Array, at: number, slot: number): number {
    return cells[at + this.first] - slot * this.sliceMs
  }

  /** Returns the slot of the slice that ends at `endsAt`, or the earliest slot after it; negative if there is none. */
  #slotOf(cells: Float64Array, at: number, endsAt: number): number {
    return Math.min(SLOTS - 1, Math.floor((cells[at + this.first] - endsAt) / this.sliceMs + 0.5))
  }

  #held(cells: Float64Array, at: number, now: number): number {
    let held = 0
    let slot = 0
    while (slot < SLOTS && this.#endOf(cells, at, slot) > now) {
      held += cells[at + this.first + 1 + slot]
      slot++
    }
    return held
  }

  /** Returns the milliseconds until nothing is held. */
  #heldMs(cells: Float64Array, at: number, now: number): number {
    let leftMs = 0
    let slot = 0
    while (leftMs === 0 && slot < SLOTS && this.#endOf(cells, at, slot) > now) {
      if (cells[at + this.first + 1 + slot] > 0) leftMs = this.#endOf(cells, at, slot) - now
      slot++
    }
    return leftMs
  }
}
