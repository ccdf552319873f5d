import { FRACTION, HEAVY, TAILS, tailOf } from './page-layout.ts'
import { type Memory, Tail } from './tail.ts'
import { RECALLED } from './ticks.ts'

/** Number of counts whose tail numbers are stored. */
const MAX_COUNTS = 1_000

/** Several tails, so that a flood of one policy does not degrade what is remembered for other policies. */
export class Tails {
  /** Result of the last call of `remembers` that returned true. */
  readonly memory: Memory = { fraction: 0, expiry: 0 }
  /** Evicted keys that were written to a tail. */
  spilled = 0
  readonly #tailBytes: number
  readonly #tails: (Tail | undefined)[] = new Array<Tail | undefined>(TAILS).fill(undefined)
  readonly #numbers = new Map<string, number>()

  /** Uses at most `bytes`. A tail is allocated when its first heavy key is evicted. */
  constructor(bytes: number) {
    this.#tailBytes = bytes / TAILS
  }

  /**
   * Returns the number of the tail of a count. Numbers are assigned in turn, so that the first four counts have
   * separate tails; after 1,000 counts, the hash of the name decides.
   */
  numberOf(count: string, hash: number): number {
    const known = this.#numbers.get(count)
    if (known !== undefined) return known
    if (this.#numbers.size >= MAX_COUNTS) return hash & (TAILS - 1)
    const number = this.#numbers.size % TAILS
    this.#numbers.set(count, number)
    return number
  }

  /** Whether a key is remembered; if so, sets `memory`. `high` contains the number of the tail, like a tag. */
  remembers(low: number, high: number, tick: number): boolean {
    return this.#tails[tailOf(high)]?.recall(low, high, tick, this.memory) === true
  }

  /**
   * Remembers an evicted key until it expires, if at least half of its limit would be forgotten. The fraction in `tag`
   * excludes usage that the tail already remembers; otherwise remembered usage would be extended forever.
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
