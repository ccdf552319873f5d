import type { LogEntry } from './log-entry.ts'

/** Longer lists are not reused. */
const MOST_REUSED = 10_000

/**
 * Requests of one second. The list is reused, and its places are cleared: V8 moves lists that live long to the old
 * generation, where even a list that is no longer used keeps its requests in memory until the next full collection.
 */
export class SecondOfLog {
  #entries: (LogEntry | undefined)[] = []
  #count = 0

  add(entry: LogEntry): void {
    this.#entries[this.#count++] = entry
  }

  /** Calls `each` with the requests in the order of their times, and removes them. Returns their number. */
  take(each: (entry: LogEntry) => void): number {
    const count = this.#count
    if (count === 0) return 0
    this.#sort()
    const entries = this.#entries
    this.#count = 0
    for (let at = 0; at < count; at++) {
      const entry = entries[at] as LogEntry
      entries[at] = undefined
      each(entry)
    }
    if (entries.length > MOST_REUSED) this.#entries = []
    return count
  }

  /** Stable: requests of the same millisecond stay in the order of the log. */
  #sort(): void {
    const entries = this.#entries as LogEntry[]
    let isSorted = true
    for (let at = 1; at < this.#count && isSorted; at++) isSorted = entries[at].timeMs >= entries[at - 1].timeMs
    if (!isSorted) this.#entries = entries.slice(0, this.#count).sort((a, b) => a.timeMs - b.timeMs)
  }
}
