/** What is counted of a key in slots of equal length. */
export interface SlotForm {
  readonly slotMs: number
  /** Slots that count, the current one among them. */
  readonly kept: number
}

/** By threes: the start of a slot, its units, the instant of its last take. Instants are of the process clock. */
export type Slots = readonly number[]

/** Adds units that were taken at `takenAt` to the slot that began at `start`; what is given back is of that slot, too. */
export function addUnits(slots: number[], { slotMs }: SlotForm, start: number, units: number, takenAt: number): void {
  for (let at = 0; at < slots.length; at += 3) {
    // all replicas agree on slots, but for the ms that messages take
    if (Math.abs(slots[at] - start) >= slotMs / 2) continue
    slots[at + 1] = Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, slots[at + 1] + units))
    if (units > 0) slots[at + 2] = Math.max(slots[at + 2], takenAt)
    return
  }
  if (units > 0) slots.push(start, units, takenAt)
}

/** Forgets slots for which `isOver` holds. */
export function forgetSlots(slots: number[], isOver: (start: number, lastAt: number) => boolean): void {
  let kept = 0
  for (let at = 0; at < slots.length; at += 3) {
    if (isOver(slots[at], slots[at + 2])) continue
    for (let cell = 0; cell < 3; cell++) slots[kept++] = slots[at + cell]
  }
  slots.length = kept
}

export function unitsOf(slots: Slots): number {
  let units = 0
  for (let at = 1; at < slots.length; at += 3) units += slots[at]
  return units
}
