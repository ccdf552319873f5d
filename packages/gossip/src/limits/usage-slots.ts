/** Form in which a key is counted: slots of equal length. */
export interface SlotForm {
  readonly slotMs: number
  /** Number of slots that count, including the current one. */
  readonly kept: number
}

/** Groups of three numbers: start of a slot, units, and time of the last take. Times are process times. */
export type Slots = readonly number[]

/**
 * Adds units taken at `takenAt` to the slot that started at `start`. Negative units are a refund to that slot; its
 * units stay at 0 or more.
 */
export function addUnits(slots: number[], { slotMs }: SlotForm, start: number, units: number, takenAt: number): void {
  for (let at = 0; at < slots.length; at += 3) {
    // replicas agree on the starts of slots, except for the delay of messages
    if (Math.abs(slots[at] - start) >= slotMs / 2) continue
    slots[at + 1] = Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, slots[at + 1] + units))
    if (units > 0) slots[at + 2] = Math.max(slots[at + 2], takenAt)
    return
  }
  if (units > 0) slots.push(start, units, takenAt)
}

/** Removes the slots for which `isOver` returns true. */
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
