import type { LogEntry } from './log-entry.ts'

/** Servers write a request when it ends, so that lines are out of order by the duration of requests. */
const HELD_SECONDS = 60
/** Lists in the ring: a power of two above the seconds that are held at a time. */
const SLOTS = 64
/** Bounds the memory of a log with many requests in a minute. */
const MOST_HELD = 500_000

/**
 * Sorts requests by time: holds those of the last minute, in one list for each second. A request that is more than a
 * minute late is passed on in its place in the log, and counted.
 */
export class ReorderBuffer {
  /** Number of requests that were passed on after a later one. */
  late = 0
  /** By how much the latest of them was late, in milliseconds. */
  latestByMs = 0
  readonly #mostHeld: number
  // a ring and not a Map: V8 links each table of a Map to the next one, so that requests outlive many collections
  readonly #slots: LogEntry[][] = Array.from({ length: SLOTS }, () => [])
  #held = 0
  #newest = Number.NEGATIVE_INFINITY
  /** The seconds before this one have been passed on. At most `HELD_SECONDS` before the newest one. */
  #passed = Number.NEGATIVE_INFINITY

  constructor(mostHeld: number = MOST_HELD) {
    this.#mostHeld = mostHeld
  }

  /** Adds requests, and calls `each` with all that are old enough. */
  push(batch: readonly LogEntry[], each: (entry: LogEntry) => void): void {
    for (const entry of batch) {
      const second = Math.floor(entry.timeMs / 1000)
      if (second < this.#passed) this.#passLate(entry, each)
      else this.#hold(second, entry, each)
    }
    if (this.#held > this.#mostHeld) this.#passBefore(this.#newest, each)
    if (this.#held > this.#mostHeld) this.#passBefore(this.#newest + 1, each)
  }

  /** Calls `each` with all requests that are held. */
  end(each: (entry: LogEntry) => void): void {
    this.#passBefore(this.#newest + 1, each)
  }

  #hold(second: number, entry: LogEntry, each: (entry: LogEntry) => void): void {
    if (second > this.#newest) {
      this.#passBefore(second - HELD_SECONDS, each)
      this.#newest = second
    }
    this.#slots[slotOf(second)].push(entry)
    this.#held++
  }

  #passLate(entry: LogEntry, each: (entry: LogEntry) => void): void {
    this.late++
    this.latestByMs = Math.max(this.latestByMs, this.#passed * 1000 - entry.timeMs)
    each(entry)
  }

  #passBefore(before: number, each: (entry: LogEntry) => void): void {
    if (before <= this.#passed) return
    if (this.#held > 0) {
      const last = Math.min(before - 1, this.#newest)
      for (let second = this.#passed; second <= last; second++) this.#pass(slotOf(second), each)
    }
    this.#passed = before
  }

  #pass(slot: number, each: (entry: LogEntry) => void): void {
    const entries = this.#slots[slot]
    if (entries.length === 0) return
    this.#slots[slot] = []
    this.#held -= entries.length
    // stable: requests of the same millisecond stay in the order of the log
    if (!isSorted(entries)) entries.sort((a, b) => a.timeMs - b.timeMs)
    for (const entry of entries) each(entry)
  }
}

function slotOf(second: number): number {
  return ((second % SLOTS) + SLOTS) % SLOTS
}

// most logs have whole seconds, and sorting would copy the list
function isSorted(entries: readonly LogEntry[]): boolean {
  for (let at = 1; at < entries.length; at++) if (entries[at].timeMs < entries[at - 1].timeMs) return false
  return true
}
