import type { ObserverEvent, Step } from '../contracts.ts'
import { Arena } from './arena.ts'
import { Budget } from './budget.ts'
import { EXPIRY, FRACTION, TAG } from './shard.ts'
import { Tail } from './tail.ts'

/** Milliseconds of one tick of expiry; 31 bits of ticks reach 8.7 years, and what would end later ends then. */
const TICK_MS = 128
const LAST_TICK = 2 ** 31 - 1
/** A fourteenth of the budget is kept for the tail. */
const TAIL_SHARE = 1 / 14
/** Used fraction, in 255ths, from which an evicted key is remembered. */
const HEAVY = 128
const REPORT_EVERY_MS = 1_000

type Report = (name: ObserverEvent, data: Readonly<Record<string, unknown>>) => void

/**
 * The counts of all steps of a backend: one arena for each number of cells, a budget over them, a tail behind them.
 * `aim` names a key, `find` or `look` points `cells` and `at` at its numbers.
 */
export class CountTable {
  cells: Float64Array = new Float64Array(0)
  at = 0
  readonly #arenas: Arena[] = []
  readonly #budget: Budget
  readonly #tailBytes: number
  readonly #originMs: number
  readonly #report: Report
  readonly #memory = { fraction: 0, expiry: 0 }
  #tail: Tail | undefined
  // stands in for a key that is not in the table, so that asking leaves no trace
  #absent = new Float64Array(4)
  #low = 0
  #high = 0
  #present = false
  #evictions = 0
  #spills = 0
  #reportedAt = Number.NEGATIVE_INFINITY
  #now = 0

  constructor(maxBytes: number, nowMs: number, report: Report) {
    this.#tailBytes = maxBytes * TAIL_SHARE
    this.#budget = new Budget(maxBytes - this.#tailBytes)
    this.#originMs = nowMs
    this.#report = report
  }

  aim(low: number, high: number): void {
    this.#low = low
    this.#high = high
  }

  /** The numbers of the key; of a key that is remembered by the tail alone, it is put back into the table. */
  find(step: Step, now: number): void {
    if (this.#locate(step) || (this.#tail && this.#recall(step, now))) return
    this.#usePlaceholder(step)
  }

  /** The numbers of the key, to read: changes nothing. */
  look(step: Step, now: number): void {
    if (this.#locate(step)) return
    this.#usePlaceholder(step)
    if (this.#tail?.recall(this.#low, this.#high, this.#tickOf(now), this.#memory)) this.#adopt(step, now)
  }

  /** Spends a cost that fits on the key that `find` pointed at. */
  spend(step: Step, now: number, cost: number): void {
    if (cost === 0) return
    if (!this.#present) this.#insert(step, now)
    step.spend(this.cells, this.at, now, cost)
  }

  /** Adjusts the key that `find` pointed at. Returns the units that found their place; a refund creates no key. */
  adjust(step: Step, now: number, units: number, takenAt: number): number {
    if (!this.#present) {
      if (units <= 0) return 0
      this.#insert(step, now)
    }
    return step.adjust(this.cells, this.at, now, units, takenAt)
  }

  /** Writes how used the key is and when it will be free, for whoever has to choose a victim. */
  mark(step: Step, now: number, remaining: number, resetAfterMs: number): void {
    if (!this.#present) return
    const { words, word } = this.#arena(step).place
    const fraction = Math.ceil((FRACTION * (step.capacity - remaining)) / step.capacity)
    words[word + TAG] = (words[word + TAG] & ~FRACTION) | fraction
    words[word + EXPIRY] = Math.min(LAST_TICK, this.#tickOf(now + resetAfterMs) + 1)
  }

  reset(step: Step, now: number): void {
    this.find(step, now)
    if (!this.#present) return
    this.cells.fill(0, this.at, this.at + step.cells)
    this.mark(step, now, step.capacity, 0)
    // as long as the tail remembers the key, the fresh one must stay in front of it
    if (!this.#tail?.recall(this.#low, this.#high, this.#tickOf(now), this.#memory)) return
    const { words, word } = this.#arena(step).place
    words[word + EXPIRY] = this.#memory.expiry
  }

  #arena(step: Step): Arena {
    return this.#arenas[step.cells] ?? this.#open(step.cells)
  }

  #open(cells: number): Arena {
    this.#arenas[cells] = new Arena(cells, this.#budget, (low, tag, expiry) => this.#evicted(low, tag, expiry))
    return this.#arenas[cells]
  }

  #locate(step: Step): boolean {
    const arena = this.#arena(step)
    this.#present = arena.find(this.#low, this.#high)
    if (!this.#present) return false
    this.cells = arena.place.cells
    this.at = arena.place.at
    return true
  }

  #usePlaceholder(step: Step): void {
    if (this.#absent.length < step.cells) this.#absent = new Float64Array(step.cells)
    else this.#absent.fill(0)
    this.cells = this.#absent
    this.at = 0
  }

  #insert(step: Step, now: number): void {
    this.#now = now
    const arena = this.#arena(step)
    arena.insert(this.#low, this.#high, this.#tickOf(now))
    this.#present = true
    this.cells = arena.place.cells
    this.at = arena.place.at
  }

  #recall(step: Step, now: number): boolean {
    if (!this.#tail?.recall(this.#low, this.#high, this.#tickOf(now), this.#memory)) return false
    const { fraction, expiry } = this.#memory
    this.#insert(step, now)
    // the insert may itself have spilled a key into the tail, and so changed what is remembered of this one
    this.#memory.fraction = fraction
    this.#memory.expiry = expiry
    this.#adopt(step, now)
    return true
  }

  #adopt(step: Step, now: number): void {
    const used = Math.ceil((this.#memory.fraction * step.capacity) / FRACTION)
    const resetAfterMs = this.#originMs + this.#memory.expiry * TICK_MS - now
    step.adopt(this.cells, this.at, now, used, resetAfterMs)
  }

  #evicted(low: number, tag: number, expiry: number): void {
    const fraction = tag & FRACTION
    this.#evictions++
    if (fraction >= HEAVY) {
      this.#tail ??= new Tail(this.#tailBytes)
      this.#tail.add(low, tag, fraction, expiry, this.#tickOf(this.#now))
      this.#spills++
    }
    if (this.#now < this.#reportedAt + REPORT_EVERY_MS) return
    this.#reportedAt = this.#now
    this.#report('evicted', { keys: this.#evictions })
    if (this.#spills > 0) this.#report('tail', { keys: this.#spills })
  }

  // tick 0 is an empty slot
  #tickOf(ms: number): number {
    return Math.max(1, Math.min(LAST_TICK - 1, Math.floor((ms - this.#originMs) / TICK_MS) + 1))
  }
}
