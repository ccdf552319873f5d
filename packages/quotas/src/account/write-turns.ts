import { type Clock, systemClock } from '@sluice/limiter-core/backend'
import type { WriterState } from './quota-state.ts'

/** Other processes write in real time, even if a test uses a clock that stands still. */
export const TURN_CLOCK: Clock = systemClock

/** Number of consecutive rejected writes that a process accepts before it waits for turns. */
const MAX_REFUSALS = 3
/** Number of other recent writers from which a process waits for turns without a rejection. */
const CROWD = 4
/** Part of a write after which the next writer begins. Reading takes as long as writing, so the two can overlap. */
const TURN_SHARE = 0.5
/** Maximum number of times the range of random positions is doubled. */
const MAX_DOUBLINGS = 5
/** Time for which turns are used after rejections, and age up to which a writer counts as recent, in ms. */
const TURNS_MS = 1_000

/**
 * Decides when a process writes an account that many processes write at once: the process whose last write is the
 * oldest goes first, according to the writers listed in the account. Processes need not communicate, and accounts with
 * few writers are written without waiting.
 */
export class WriteTurns {
  readonly #writer: string
  #refusals = 0
  #until = Number.NEGATIVE_INFINITY
  #writers: readonly WriterState[] = []
  #readAt = 0
  #sent: { readonly writers: readonly WriterState[]; readonly now: number } | undefined

  constructor(writer: string) {
    this.#writer = writer
  }

  /** Records the writers listed in the account, at database time `now`. */
  read(writers: readonly WriterState[], now: number): void {
    this.#writers = writers
    this.#readAt = now
  }

  /** Records the writers listed in a write that is being sent. */
  composed(writers: readonly WriterState[], now: number): void {
    this.#sent = { writers, now }
  }

  refused(now: number): void {
    if (++this.#refusals > MAX_REFUSALS) this.#until = now + TURNS_MS
  }

  written(): void {
    this.#refusals = 0
    if (this.#sent) this.read(this.#sent.writers, this.#sent.now)
  }

  /**
   * Returns how long to wait before the next write, in ms, if a write takes `writeMs`; 0 for no wait. `now` is a
   * reading of `TURN_CLOCK`.
   */
  waitMs(now: number, writeMs: number): number {
    const others = this.#writers.filter(({ writer, at }) => writer !== this.#writer && this.#readAt - at < TURNS_MS)
    if (now >= this.#until && others.length < CROWD) return 0
    const own = this.#writers.find(({ writer }) => writer === this.#writer)
    const before = own ? others.filter(({ at }) => at < own.at).length : this.#randomPosition()
    return before * writeMs * TURN_SHARE
  }

  /** Returns a random position for a process that is not listed; the range doubles with each rejection. */
  #randomPosition(): number {
    return Math.random() * 2 ** Math.min(this.#refusals, MAX_DOUBLINGS)
  }
}
