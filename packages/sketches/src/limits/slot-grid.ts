/**
 * Time divided into slots, n of which form a window; slot 0 starts at the first count. Periods without traffic shift
 * nothing. Boundaries are computed from the origin, so that errors do not accumulate.
 */
export class SlotGrid {
  readonly windowMs: number
  readonly slots: number
  /** When slot 0 begins; NaN before the first count. */
  origin: number = Number.NaN

  constructor(windowMs: number, slots: number) {
    this.windowMs = windowMs
    this.slots = slots
  }

  /** When a slot begins, and the one before it ends. */
  startOf(slot: number): number {
    return this.origin + (slot * this.windowMs) / this.slots
  }

  /** The slot in which an instant lies. */
  slotAt(at: number): number {
    const slot = Math.floor(((at - this.origin) * this.slots) / this.windowMs)
    if (this.startOf(slot) > at) return slot - 1
    return this.startOf(slot + 1) <= at ? slot + 1 : slot
  }

  /** Moves the grid so that `slot` starts at `at`. */
  shift(slot: number, at: number): void {
    this.origin = at - (slot * this.windowMs) / this.slots
  }
}
