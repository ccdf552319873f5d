import { type Cells, UsagePolicy } from './usage-policy.ts'
import { AVAILABLE_AFTER, REMAINING, RESET_AFTER, WAIT } from './verdict-numbers.ts'
import { firstWholeMs } from './whole-ms.ts'

// indexes of the cells and of `#epochs`
const START = 0
const CURRENT = 1
const PREVIOUS = 2
const LAST = 3

/**
 * Cells: [start of the current epoch, units of the current epoch, units of the previous epoch, time of the last unit].
 * An epoch is as long as the window, and the first epoch starts with the first take of the key.
 *
 * Units of the previous epoch are weighted by the part of that epoch that overlaps a window ending now. They stop
 * counting when the epoch's last unit has left the window, so a client that spends its limit at once gets all of it
 * back one window later. The time of the last unit belongs to the previous epoch if that has units, otherwise to the
 * current epoch; if the last unit of an epoch is unknown, the end of the epoch is assumed. Units whose time is unknown
 * are stored as a negative number in the previous epoch, and count completely until the time of the last unit is one
 * window ago. Comparisons are multiplied by the window, so that integer units and milliseconds give exact results.
 *
 * Guarantee: at most twice the limit in any window (1.999 times in the worst adversarial case), close to the limit in
 * ordinary traffic. The longest wait is two windows; one window for a client that spends its limit at once.
 */
export class CompiledTwoEpochWindow extends UsagePolicy {
  readonly cells = 4
  override readonly instants: readonly number[] = [START, LAST]
  // the cells at the `now` of the call
  readonly #epochs = new Float64Array(4)

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0) return 0
    this.#roll(cells, at, now)
    return this.#fitsAt(now, cost) ? 0 : this.#waitFor(now, cost)
  }

  override take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void {
    const windowMs = this.windowMs
    const weightedMs = this.#roll(cells, at, now)
    let waitMs = 0
    if (cost > 0) {
      if (weightedMs + (this.#epochs[CURRENT] + cost) * windowMs <= this.capacity * windowMs) {
        this.#add(cells, at, now, cost, weightedMs)
      } else waitMs = this.#waitFor(now, cost)
    }
    this.#write(now, cost, waitMs, weightedMs, numbers)
  }

  override numbers(cells: Cells, at: number, now: number, cost: number, waitMs: number, numbers: Cells): void {
    this.#write(now, cost, waitMs, this.#roll(cells, at, now), numbers)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) this.#add(cells, at, now, cost, this.#roll(cells, at, now))
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const epochs = this.#epochs
    this.#settle(now, this.#roll(cells, at, now))
    const then = Math.min(takenAt, Math.max(now, epochs[START]))
    if (then <= Math.max(now, epochs[START]) - this.windowMs) return 0
    // if nothing is counted, the first epoch starts with the take that is charged late; with a limit of 1 also if it is
    // older than the epoch, because the time of the last unit, which is the end of a ban, must stay known
    const isFirst = epochs[CURRENT] === 0 || (this.capacity === 1 && then < epochs[START])
    if (units > 0 && epochs[PREVIOUS] === 0 && isFirst) epochs[START] = then
    let moved = then >= epochs[START] ? this.#moveCurrent(units, then) : this.#movePrevious(units, then, now)
    // adopted units have an unknown time, so the rest of a refund may belong to them
    if (moved > units && epochs[PREVIOUS] < 0) moved += this.#movePrevious(units - moved, then, now)
    if (moved !== 0) this.#store(cells, at)
    return moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return this.#unitsLeft(this.#roll(cells, at, now))
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    this.#roll(cells, at, now)
    return this.#endsAfter(now)
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const resetMs = Math.min(resetAfterMs, 2 * this.windowMs)
    const live = used > 0 && resetMs > 0
    const last = now + resetMs - this.windowMs
    const inCurrent = last > now
    cells[at + START] = live ? (inCurrent ? last - this.windowMs : now) : 0
    cells[at + CURRENT] = live && inCurrent ? used : 0
    cells[at + PREVIOUS] = live && !inCurrent ? -used : 0
    cells[at + LAST] = live ? last : 0
  }

  /**
   * Adds or refunds units of the current epoch, and returns the units that were applied. The time of the last unit is
   * updated only if the previous epoch has no units, because it belongs to the previous epoch otherwise.
   */
  #moveCurrent(units: number, takenAt: number): number {
    const epochs = this.#epochs
    const before = epochs[CURRENT]
    epochs[CURRENT] = Math.max(0, before + units)
    if (units > 0 && epochs[PREVIOUS] === 0) {
      epochs[LAST] = before === 0 ? takenAt : Math.max(epochs[LAST], takenAt)
    }
    return epochs[CURRENT] - before
  }

  #movePrevious(units: number, takenAt: number, now: number): number {
    const epochs = this.#epochs
    const before = Math.abs(epochs[PREVIOUS])
    const after = Math.max(0, before + units)
    epochs[PREVIOUS] = epochs[PREVIOUS] < 0 ? -after : after
    if (units > 0) epochs[LAST] = before === 0 ? takenAt : Math.max(epochs[LAST], takenAt)
    // the time now belongs to the current epoch, whose last unit was taken now at the latest
    else if (before > 0 && after === 0) epochs[LAST] = Math.max(now, epochs[START])
    return after - before
  }

  /** Adds units to the rolled epochs and stores them. */
  #add(cells: Float64Array, at: number, now: number, cost: number, weightedMs: number): void {
    const epochs = this.#epochs
    this.#settle(now, weightedMs)
    if (epochs[PREVIOUS] === 0) {
      if (epochs[CURRENT] === 0) {
        epochs[START] = now
        epochs[LAST] = now
      } else if (now > epochs[LAST]) epochs[LAST] = now
    }
    epochs[CURRENT] += cost
    this.#store(cells, at)
  }

  /** Writes the numbers of a verdict from the rolled epochs. */
  #write(now: number, cost: number, waitMs: number, weightedMs: number, numbers: Float64Array): void {
    const remaining = this.#unitsLeft(weightedMs)
    let availableMs = 0
    if (remaining < this.capacity) {
      if (waitMs > 0 && cost === remaining + 1) availableMs = waitMs
      else availableMs = this.#waitFor(now, remaining + 1)
    }
    numbers[WAIT] = waitMs
    numbers[REMAINING] = remaining
    numbers[RESET_AFTER] = this.#endsAfter(now)
    numbers[AVAILABLE_AFTER] = availableMs
  }

  /** Clears a previous epoch that no longer counts, so that the time belongs to the current epoch. */
  #settle(now: number, weightedMs: number): void {
    const epochs = this.#epochs
    if (epochs[PREVIOUS] === 0 || weightedMs !== 0) return
    epochs[PREVIOUS] = 0
    epochs[LAST] = Math.max(now, epochs[START])
  }

  /** Returns the units that fit the rolled epochs. */
  #unitsLeft(weightedMs: number): number {
    const windowMs = this.windowMs
    const current = this.#epochs[CURRENT]
    const fullMs = this.capacity * windowMs
    let units = Math.max(0, Math.floor(this.capacity - current - weightedMs / windowMs))
    // the division may round to the wrong integer, and the result must agree with the comparison in `#fitsAt`
    while (units > 0 && weightedMs + (current + units) * windowMs > fullMs) units--
    while (units < this.capacity && weightedMs + (current + units + 1) * windowMs <= fullMs) units++
    return units
  }

  /** Returns the milliseconds until the rolled epochs no longer count. */
  #endsAfter(now: number): number {
    const epochs = this.#epochs
    if (epochs[CURRENT] === 0 && epochs[PREVIOUS] === 0) return 0
    // the time of the last unit is that of the previous epoch if both have units: then the end of the current one
    const endsLater = epochs[CURRENT] > 0 && epochs[PREVIOUS] !== 0
    return (endsLater ? epochs[START] + this.windowMs : epochs[LAST]) + this.windowMs - now
  }

  /**
   * Copies the cells to `#epochs`, moved forward to `now`. Returns the weighted units of the previous epoch, multiplied
   * by the window. A time before the start of the current epoch, after the clock went back, is treated as its start.
   */
  #roll(cells: Float64Array, at: number, now: number): number {
    const windowMs = this.windowMs
    let start = cells[at + START]
    let current = cells[at + CURRENT]
    let previous = cells[at + PREVIOUS]
    let last = cells[at + LAST]
    // compare with a sum: a difference of fractional milliseconds may be rounded to less than the window
    const endsAt = start + windowMs
    if (now >= endsAt) {
      if (previous !== 0) last = endsAt
      start = endsAt
      previous = current
      current = 0
    }
    const since = Math.max(now, start)
    const isOver = since >= last + windowMs
    let weightedMs = isOver ? 0 : previous < 0 ? -previous * windowMs : previous * (start + windowMs - since)
    if (current === 0 && (weightedMs === 0 || now >= endsAt + windowMs)) {
      start = now
      previous = 0
      weightedMs = 0
    }
    const epochs = this.#epochs
    epochs[START] = start
    epochs[CURRENT] = current
    epochs[PREVIOUS] = previous
    epochs[LAST] = last
    return weightedMs
  }

  // `cells.set` would take as long as the rest of a take
  #store(cells: Float64Array, at: number): void {
    const epochs = this.#epochs
    cells[at + START] = epochs[START]
    cells[at + CURRENT] = epochs[CURRENT]
    cells[at + PREVIOUS] = epochs[PREVIOUS]
    cells[at + LAST] = epochs[LAST]
  }

  /**
   * Whether `cost` fits the rolled epochs at their time or later. Repeats the rule of `#roll` without its writes: two
   * more calls of `#roll` for each decision would make it a tenth slower (`npm run bench -- earlier`).
   */
  #fitsAt(time: number, cost: number): boolean {
    const windowMs = this.windowMs
    const epochs = this.#epochs
    let start = epochs[START]
    let current = epochs[CURRENT]
    let previous = epochs[PREVIOUS]
    let last = epochs[LAST]
    const endsAt = start + windowMs
    if (time >= endsAt) {
      if (previous !== 0) last = endsAt
      start = endsAt
      previous = current
      current = 0
    }
    const since = Math.max(time, start)
    const isOver = since >= last + windowMs || time >= endsAt + windowMs
    const weightedMs = isOver ? 0 : previous < 0 ? -previous * windowMs : previous * (start + windowMs - since)
    return weightedMs + (current + cost) * windowMs <= this.capacity * windowMs
  }

  /** Returns the milliseconds until `cost` fits, if it does not fit the epochs, which are rolled to `now`. */
  #waitFor(now: number, cost: number): number {
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    const guess = Math.max(1, Math.ceil(this.#freeAt(cost) - now))
    const isExact = this.#fitsAt(now + guess, cost) && (guess === 1 || !this.#fitsAt(now + guess - 1, cost))
    return isExact ? guess : this.#searchWait(now, cost, guess)
  }

  /** Returns the exact wait if `guess` was rounded wrongly. A closure, which other decisions must not allocate. */
  #searchWait(now: number, cost: number, guess: number): number {
    return firstWholeMs(guess, (ms) => this.#fitsAt(now + ms, cost))
  }

  /** Returns about when `cost` will fit: while the previous or, later, the current epoch leaves the window. */
  #freeAt(cost: number): number {
    const epochs = this.#epochs
    const windowMs = this.windowMs
    const room = this.capacity - cost
    if (epochs[CURRENT] > room) {
      const weighted = epochs[START] + windowMs * (2 - room / epochs[CURRENT])
      const last = epochs[PREVIOUS] === 0 ? epochs[LAST] : epochs[START] + windowMs
      return Math.min(weighted, last + windowMs)
    }
    // units with an unknown time have no weight: they leave the window together
    const weighted = epochs[START] + windowMs * (1 - (room - epochs[CURRENT]) / epochs[PREVIOUS])
    return Math.min(weighted, epochs[LAST] + windowMs)
  }
}
