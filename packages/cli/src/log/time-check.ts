import type { LogEntry } from './log-entry.ts'

/** A longer gap must be confirmed by the next line. */
const LONGEST_GAP_MS = 86_400_000

/** A request whose time is not confirmed. */
interface Unconfirmed {
  readonly entry: LogEntry
  readonly line: number
  readonly text: string
}

/**
 * Rejects single lines with a wrong time. One line of the year 9999 would move the clock of a replay there, and all
 * requests after it would count at that time. A time more than a day after those before it is accepted if the next line
 * is at most a day before it.
 */
export class TimeCheck {
  #latestMs = Number.NEGATIVE_INFINITY
  #unconfirmed: Unconfirmed | undefined
  readonly #accept: (entry: LogEntry) => void
  readonly #reject: (line: number, text: string) => void

  constructor(accept: (entry: LogEntry) => void, reject: (line: number, text: string) => void) {
    this.#accept = accept
    this.#reject = reject
  }

  add(entry: LogEntry, line: number, text: string): void {
    if (this.#unconfirmed) this.#decide(this.#unconfirmed, entry.timeMs)
    if (entry.timeMs > this.#latestMs + LONGEST_GAP_MS) this.#unconfirmed = { entry, line, text }
    else this.#pass(entry)
  }

  /** Accepts the last line. */
  end(): void {
    if (this.#unconfirmed) this.#pass(this.#unconfirmed.entry)
  }

  #decide({ entry, line, text }: Unconfirmed, nextMs: number): void {
    this.#unconfirmed = undefined
    if (nextMs >= entry.timeMs - LONGEST_GAP_MS) this.#pass(entry)
    else this.#reject(line, text)
  }

  #pass(entry: LogEntry): void {
    if (entry.timeMs > this.#latestMs) this.#latestMs = entry.timeMs
    this.#accept(entry)
  }
}
