import type { Policy } from '@sluice/limiter-core'
import { type CellBits, FULL } from '../cells.ts'
import { kindInSlots, refused } from './kept-policy.ts'
import { SlotGrid } from './slot-grid.ts'
import { ROWS, SlotMatrix } from './slot-matrix.ts'
import type { SlotSecret } from './slot-secret.ts'
import type { WindowMemory } from './window-memory.ts'
import { WindowRule } from './window-rule.ts'
import { WindowSpans } from './window-spans.ts'

export interface SlotMemoryOptions {
  /** Bytes for cells. */
  readonly bytes: number
  readonly slots: number
  readonly cells: CellBits
  readonly conservative: boolean
}

/**
 * One window in slots: a count-min matrix for each slot of the window, plus one for the slot that is partly outside.
 * They rotate; each starts empty with new positions. Two keys that collide in one slot do not in the next, and what
 * an attacker learns about positions is useful for at most a window and a slot.
 */
export class SlotMemory implements WindowMemory {
  readonly spans: WindowSpans
  readonly width: number
  readonly refunds: boolean
  readonly #secret: SlotSecret
  readonly #options: SlotMemoryOptions
  /** The oldest first, the running one last. */
  readonly #slots: SlotMatrix[] = []
  #grid: SlotGrid | undefined
  // of the key aimed at: a slot in which nothing was counted looks for its place when something is
  #low = 0
  #high = 0

  constructor(options: SlotMemoryOptions, secret: SlotSecret) {
    const { bytes, slots, cells } = options
    this.#options = options
    this.#secret = secret
    this.refunds = !options.conservative
    this.spans = new WindowSpans(slots + 1)
    // a matrix starts on a word boundary, whatever its cell size
    const each = Math.floor(bytes / (slots + 1) / 4) * 4
    this.width = Math.floor(each / (ROWS * (cells / 8)))
    const buffer = new ArrayBuffer(each * (slots + 1))
    for (let i = 0; i <= slots; i++) this.#slots.push(new SlotMatrix(buffer, i * each, this.width, cells))
  }

  get keptMs(): number {
    const { windowMs = 0 } = this.#grid ?? {}
    return windowMs + windowMs / this.#options.slots
  }

  ruleOf(policy: Policy): WindowRule {
    const { slots, cells } = this.#options
    const rule = new WindowRule(kindInSlots(policy, slots), policy.limit, policy.windowMs)
    const most = FULL[cells] - 1
    if (policy.limit > most) {
      throw refused(
        policy,
        `expected a limit of at most ${most} with cells of ${cells} bits, received ${policy.limit}; set cells: 32`,
      )
    }
    const { windowMs } = this.#grid ?? policy
    if (policy.windowMs === windowMs) return rule
    throw refused(
      policy,
      `expected a window of ${windowMs} ms, like the other policies of this sketchBackend, received ${policy.windowMs} ms; use the history option or a separate backend`,
    )
  }

  bind({ windowMs }: WindowRule): void {
    this.#grid ??= new SlotGrid(windowMs, this.#options.slots)
  }

  unbind(): void {
    if (Number.isNaN(this.#grid?.origin)) this.#grid = undefined
  }

  alarmAgainAfterMs(): number {
    return 0
  }

  get countsFrom(): number {
    const { from, length } = this.spans
    return length === 0 ? Number.NEGATIVE_INFINITY : from[length - 1]
  }

  turn(now: number): boolean {
    const { from, to, length } = this.spans
    if (length === 0 || (now >= from[length - 1] && now < to[length - 1])) return false
    const grid = this.#grid as SlotGrid
    const running = this.#slots[length - 1].number
    const slot = grid.slotAt(now)
    if (slot > running) {
      this.#begin(slot, slot - running)
      return true
    }
    // existing counts are kept, as if they had been counted now
    if (this.#isSetBack(now)) {
      grid.shift(running, now)
      this.#place()
    }
    return false
  }

  asOf(now: number): number {
    return this.#isSetBack(now) ? this.countsFrom : now
  }

  /** Whether the clock was set back by more than what is kept. */
  #isSetBack(now: number): boolean {
    const { length } = this.spans
    return length > 0 && (this.#grid as SlotGrid).slotAt(now) < this.#slots[length - 1].number - this.#slots.length
  }

  open(now: number): void {
    const grid = this.#grid
    if (!grid || !Number.isNaN(grid.origin)) return
    grid.origin = now
    this.#begin(0, this.#slots.length)
  }

  aim(low: number, high: number): void {
    const { units } = this.spans
    for (let i = 0; i < this.spans.length; i++) {
      const slot = this.#slots[i]
      if (slot.fresh) {
        units[i] = 0
        continue
      }
      slot.aim(low, high)
      units[i] = slot.units()
    }
    this.#low = low
    this.#high = high
  }

  add(units: number): void {
    this.#addTo(this.#slots.length - 1, units)
  }

  adjust(units: number, takenAt: number, _now: number, rule: WindowRule): number {
    const at = this.#indexAt(takenAt)
    if (at < 0 || !this.#sameWindow(at, rule)) return 0
    if (units > 0) {
      this.#addTo(at, units)
      return units
    }
    const slot = this.#slots[at]
    const { units: counted } = this.spans
    if (!this.refunds || slot.fresh) return 0
    const back = Math.min(-units, counted[at])
    slot.subtract(back)
    counted[at] = slot.units()
    return -back
  }

  #addTo(at: number, units: number): void {
    const slot = this.#slots[at]
    if (slot.fresh) slot.aim(this.#low, this.#high)
    if (this.#options.conservative) slot.addConservatively(units)
    else slot.add(units)
    this.spans.units[at] = slot.units()
  }

  /** Returns the index of the slot of an instant; -1 if it is no longer kept. */
  #indexAt(at: number): number {
    const { length } = this.spans
    if (length === 0) return -1
    const running = this.#slots[length - 1].number
    const slot = Math.min(running, (this.#grid as SlotGrid).slotAt(at))
    return Math.max(-1, length - 1 - (running - slot))
  }

  /** Fixed windows are independent: nothing is changed in one that has ended. */
  #sameWindow(at: number, { kind }: WindowRule): boolean {
    const { slots } = this.#options
    const running = this.#slots[this.#slots.length - 1].number
    return kind !== 'fixed' || Math.floor(this.#slots[at].number / slots) === Math.floor(running / slots)
  }

  /** Lets `passed` slots pass, of which the last is `slot`. */
  #begin(slot: number, passed: number): void {
    const slots = this.#slots
    for (let left = Math.min(passed, slots.length) - 1; left >= 0; left--) {
      const oldest = slots.shift() as SlotMatrix
      oldest.begin(slot - left, this.#secret)
      slots.push(oldest)
    }
    this.#place()
  }

  #place(): void {
    const { spans } = this
    const grid = this.#grid as SlotGrid
    spans.length = this.#slots.length
    spans.origin = grid.origin
    for (let i = 0; i < spans.length; i++) {
      spans.from[i] = grid.startOf(this.#slots[i].number)
      spans.to[i] = grid.startOf(this.#slots[i].number + 1)
    }
  }
}
