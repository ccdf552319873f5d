import { isFloats } from '@sluice/fleet/backend'
import type { LimitEntries } from './limit-entries.ts'
import { type LimitStorage, MAX_KEYS, unawaited, type WriteOptions } from './limit-storage.ts'

/** Shortest time in ms between two deletions of expired entries. It grows with the number of entries. */
const MIN_PAUSE_MS = 60_000
/** Number of entries for which a deletion waits once more. */
const ENTRIES_PER_PAUSE = 10_000

/** The largest time of a `Date`, which is the latest time of an alarm. */
const MAX_DATE_MS = 8.64e15

/** Entries that have not expired. */
interface Remaining {
  soonestAt: number
  count: number
}

/** Deletes expired entries when the alarm of the object rings. */
export class Expiry {
  readonly #storage: LimitStorage
  readonly #entries: LimitEntries
  #alarmAt: number | null = null
  /** Time before which no deletion starts, because the last one read many entries. */
  #pausedUntil = Number.NEGATIVE_INFINITY

  constructor(storage: LimitStorage, entries: LimitEntries) {
    this.#storage = storage
    this.#entries = entries
  }

  async start(): Promise<void> {
    this.#alarmAt = await this.#storage.getAlarm()
  }

  /** Sets the alarm, unless an earlier one is set, for entries written at `clock` that end at `endsAt` at the earliest. */
  watch(clock: number, endsAt: number, options: WriteOptions): void {
    const at = alarmTime(Math.max(endsAt, clock + MIN_PAUSE_MS, this.#pausedUntil))
    if (this.#alarmAt === null || at < this.#alarmAt) this.#set(at, options)
  }

  /** Deletes the entries that have expired at `clock`, and sets the next alarm. */
  async run(clock: number): Promise<void> {
    this.#alarmAt = null
    const { soonestAt, count } = await this.#entries.pinned(() => this.#deleteExpired(clock))
    if (count === 0) return
    this.#pausedUntil = clock + MIN_PAUSE_MS * (1 + count / ENTRIES_PER_PAUSE)
    // a request may have set the alarm meanwhile, for an entry that was written after its page was read
    const nextAt = Math.min(soonestAt, this.#alarmAt ?? Number.POSITIVE_INFINITY)
    this.#set(alarmTime(Math.max(nextAt, this.#pausedUntil)), { allowUnconfirmed: true })
  }

  /** Returns the number of remaining entries, and the soonest end of them. */
  async #deleteExpired(clock: number): Promise<Remaining> {
    const remaining = { soonestAt: Number.POSITIVE_INFINITY, count: 0 }
    let startAfter: string | undefined
    do {
      const page = await this.#storage.list({ limit: MAX_KEYS, ...(startAfter !== undefined && { startAfter }) })
      const expired = [...page].filter(([name, value]) => this.#isExpired(name, value, clock, remaining))
      const names = expired.map(([name]) => name)
      if (names.length > 0) await this.#storage.delete(names, { allowUnconfirmed: true })
      startAfter = page.size === MAX_KEYS ? [...page.keys()].at(-1) : undefined
    } while (startAfter !== undefined)
    return remaining
  }

  #isExpired(name: string, value: unknown, clock: number, remaining: Remaining): boolean {
    // the start of the object is not an entry
    if (!isFloats(value)) return false
    // an entry in memory may have been changed after the storage was read
    const keptUntil = this.#entries.cached(name)?.keptUntil ?? value[0]
    if (keptUntil <= clock && this.#entries.remove(name)) return true
    remaining.count++
    remaining.soonestAt = Math.min(remaining.soonestAt, keptUntil)
    return false
  }

  #set(at: number, options: WriteOptions): void {
    this.#alarmAt = at
    unawaited(this.#storage.setAlarm(at, options))
  }
}

/** Returns the first time of an alarm that is not before `at`, or the latest possible one. */
function alarmTime(at: number): number {
  return Math.min(Math.ceil(at), MAX_DATE_MS)
}
