import type { LogEntry } from './log-entry.ts'
import { SecondOfLog } from './second-of-log.ts'

/** Servers write a request when it ends, so that lines are out of order by the duration of requests. */
const MOST_SECONDS = 60
/** Requests after which requests are held only as long as the disorder of the log requires. */
const LEARNED_AFTER = 20_000
/** Lists in the ring: a power of two above the seconds that are held at a time. */
const SLOTS = 64
/** Bounds the memory of a log with many requests in a minute. */
const MOST_HELD = 500_000

/**
 * Sorts requests by time: holds those of the last seconds, in one list for each second. At first these are 60 seconds;
 * later they are twice the largest step back that the log had, and at least one second, because requests that are held
 * for long are expensive to collect. A request that is later than that, or by more than a minute, is passed on in its
 * place in the log, and counted.
 */
export class ReorderBuffer {
  /** Number of requests that were passed on after a later one. */
  late = 0
  /** By how much the latest of them was late, in milliseconds. */
  latestByMs = 0
  readonly #mostHeld: number
  // a ring and not a Map: V8 links each table of a Map to the next one, so that requests outlive many collections
  readonly #slots: readonly SecondOfLog[] = Array.from({ length: SLOTS }, () => new SecondOfLog())
  #held = 0
  #newest = Number.NEGATIVE_INFINITY
  /** Largest number of seconds that a request was earlier than one before it. */
  #largestStep = 0
  #seen = 0
  /** The seconds before this one have been passed on. At most `MOST_SECONDS` before the newest one. */
  #passed = Number.NEGATIVE_INFINITY

  constructor(mostHeld: number = MOST_HELD) {
    this.#mostHeld = mostHeld
  }

  /** Adds requests, and calls `each` with all that are old enough. */
  push(batch: readonly LogEntry[], each: (entry: LogEntry) => void): void {
    for (const entry of batch) {
      const second = Math.floor(entry.timeMs / 1000)
      this.#seen++
      if (this.#newest - second > this.#largestStep) this.#largestStep = this.#newest - second
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

  get #heldSeconds(): number {
    return this.#seen < LEARNED_AFTER ? MOST_SECONDS : Math.min(MOST_SECONDS, 2 * this.#largestStep + 1)
  }

  #hold(second: number, entry: LogEntry, each: (entry: LogEntry) => void): void {
    if (second > this.#newest) {
      this.#passBefore(second - this.#heldSeconds, each)
      this.#newest = second
    }
    this.#slots[slotOf(second)].add(entry)
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
      for (let second = this.#passed; second <= last; second++) {
        this.#held -= this.#slots[slotOf(second)].take(each)
      }
    }
    this.#passed = before
  }
}

function slotOf(second: number): number {
  return ((second % SLOTS) + SLOTS) % SLOTS
}
