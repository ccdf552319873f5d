import { FRACTION, TAILS, tailOf } from './page-layout.ts'
import { type Memory, Tail } from './tail.ts'
import { RECALLED } from './ticks.ts'

/** What would be forgotten of an evicted key, in 255ths of its limit, from which on it is remembered. */
const HEAVY = 128
/** Of so many counts it is kept which tail is theirs. */
const MOST_COUNTS = 1_000

/** Four tails, so that a flood of one policy does not cloud what is remembered for the others. */
export class Tails {
  /** What `remembers` found. */
  readonly memory: Memory = { fraction: 0, expiry: 0 }
  /** Evicted keys that were written to a tail. */
  spilled = 0
  readonly #tailBytes: number
  readonly #tails: (Tail | undefined)[] = new Array<Tail | undefined>(TAILS).fill(undefined)
  readonly #numbers = new Map<string, number>()

  /** Uses at most `bytes`, and none before the first heavy key is evicted. */
  constructor(bytes: number) {
    this.#tailBytes = bytes / TAILS
  }

  /** The tail of a count. They take turns, so that the first four have one of their own; past any sensible number it is chance. */
  numberOf(count: string, hash: number): number {
    const known = this.#numbers.get(count)
    if (known !== undefined) return known
    if (this.#numbers.size >= MOST_COUNTS) return hash & (TAILS - 1)
    const number = this.#numbers.size % TAILS
    this.#numbers.set(count, number)
    return number
  }

  /** Whether a key is remembered; if so, `memory` says what of it. `high` carries the number of its tail, as tags do. */
  remembers(low: number, high: number, tick: number): boolean {
    return this.#tails[tailOf(high)]?.recall(low, high, tick, this.memory) === true
  }

  /**
   * Remembers an evicted key of which half of its limit or more would be forgotten: so much of it, and no longer than
   * it lasts. What was remembered of the key before is not told again, else the tail would feed on its own answers.
   */
  spill(low: number, tag: number, expiry: number, tick: number): void {
    const forgotten = tag & FRACTION
    if (forgotten < HEAVY) return
    const number = tailOf(tag)
    this.#tails[number] ??= new Tail(this.#tailBytes)
    this.#tails[number].add(low, tag, forgotten, expiry & ~RECALLED, tick)
    this.spilled++
  }

  forget(low: number, high: number): void {
    this.#tails[tailOf(high)]?.forget(low, high)
  }
}
