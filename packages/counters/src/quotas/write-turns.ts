import type { WriterState } from './quota-state.ts'

/** So many writes in a row find another one's in their place before a process waits for its turn. */
const MOST_AT_ONCE = 3
/** So many other writers within that time take turns from the first write on. */
const CROWD = 4
/** One begins when the one before it has so much of its write behind it: to read takes as long as to write. */
const TURN_SHARE = 0.5
const MOST_DOUBLED = 5
/** How long after such a row writes go on taking turns, and how long ago a writer wrote that still takes its own. */
const TURNS_MS = 1_000

/**
 * When a process writes an account that many write at once: whoever wrote longest ago goes first, by what the account says
 * of its writers. No two processes need to hear of each other, and an account of few writers knows no turns.
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

  /** The account names these writers, at `now` of the database. */
  read(writers: readonly WriterState[], now: number): void {
    this.#writers = writers
    this.#readAt = now
  }

  /** A write says so, and stands unless it is refused. */
  composed(writers: readonly WriterState[], now: number): void {
    this.#sent = { writers, now }
  }

  refused(now: number): void {
    if (++this.#refusals > MOST_AT_ONCE) this.#until = now + TURNS_MS
  }

  written(): void {
    this.#refusals = 0
    if (this.#sent) this.read(this.#sent.writers, this.#sent.now)
  }

  /** How long to wait for the next write, in ms, where one takes `writeMs`; 0 for at once. `now` is of the process. */
  waitMs(now: number, writeMs: number): number {
    const others = this.#writers.filter(({ writer, at }) => writer !== this.#writer && this.#readAt - at < TURNS_MS)
    if (now >= this.#until && others.length < CROWD) return 0
    const own = this.#writers.find(({ writer }) => writer === this.#writer)
    const before = own ? others.filter(({ at }) => at < own.at).length : this.#drawn()
    return before * writeMs * TURN_SHARE
  }

  /** The place of one whom nobody knows yet, among more of them each time. */
  #drawn(): number {
    return Math.random() * 2 ** Math.min(this.#refusals, MOST_DOUBLED)
  }
}
