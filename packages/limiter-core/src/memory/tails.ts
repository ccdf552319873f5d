import { FRACTION, TAILS, tailOf } from './page-layout.ts'
import { type Memory, Tail } from './tail.ts'
import { RECALLED } from './ticks.ts'

/** Evicted keys are remembered from this used fraction on, in 255ths of their limit. */
const HEAVY = 128
/** Number of counts whose tail is remembered. */
const MOST_COUNTS = 1_000

/** Four tails, so that a flood of one policy does not affect the memory of the others. */
export class Tails {
  /** Result of `remembers`. */
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

  /**
   * Returns the tail of a count. Counts are assigned in turn, so that the first four have their own; beyond
   * `MOST_COUNTS` the hash decides.
   */
  numberOf(count: string, hash: number): number {
    const known = this.#numbers.get(count)
    if (known !== undefined) return known
    if (this.#numbers.size >= MOST_COUNTS) return hash & (TAILS - 1)
    const number = this.#numbers.size % TAILS
    this.#numbers.set(count, number)
    return number
  }

  /** Whether a key is remembered; if so, `memory` is set. `high` contains the number of its tail, as tags do. */
  remembers(low: number, high: number, tick: number): boolean {
    return this.#tails[tailOf(high)]?.recall(low, high, tick, this.memory) === true
  }

  /**
   * Remembers an evicted key if at least half of its limit would be forgotten, until it expires. What was already
   * remembered of the key is not added again, because the tail would feed on its own results.
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
