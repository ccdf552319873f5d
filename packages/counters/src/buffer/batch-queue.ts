import type { CounterBatch, TokenGroup } from '../ledger/counter-ledger.ts'
import type { CounterEntry } from './counter-entry.ts'
import type { PendingGroup } from './pending-group.ts'

/** Content of one batch, which is resent unchanged until the ledger replies. */
export interface OutgoingBatch {
  readonly number: number
  readonly entries: readonly CounterEntry[]
  readonly groups: readonly PendingGroup[]
  /** Turn of the oldest item in the batch. */
  readonly turn: number
}

/**
 * Units of this process that are not in a batch yet. Each waiting item has a turn, which increases in the order of
 * arrival. Units of the same id wait as one entry; each group, which counts all or none, waits separately.
 */
export class BatchQueue {
  readonly #maxBatch: number
  #number = 0
  /** Turn of the newest item. */
  #turn = 0
  /** Entries with units that are not in a batch, with their turns, the oldest first. */
  readonly #dirty = new Map<CounterEntry, number>()
  /**
   * Entries that the last batch skipped because its groups had their ids. Groups of the next batch wait for these
   * entries.
   */
  #skipped: ReadonlySet<CounterEntry> = new Set()
  #groups: PendingGroup[] = []

  /** `maxBatch` is the maximum number of ids in a batch; a single group may exceed it. */
  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch
  }

  /** Turn of the newest item added so far. */
  get lastTurn(): number {
    return this.#turn
  }

  /** Turn of the oldest item, ignoring entries that are being reset; Infinity if there is none. */
  get oldestTurn(): number {
    const group = this.#groups[0]?.turn ?? Number.POSITIVE_INFINITY
    for (const [{ isBeingReset }, turn] of this.#dirty) if (!isBeingReset) return Math.min(group, turn)
    return group
  }

  /** Number of ids with waiting units. */
  get size(): number {
    return this.#dirty.size + this.#groups.reduce((sum, { entries }) => sum + entries.length, 0)
  }

  get hasGroups(): boolean {
    return this.#groups.length > 0
  }

  get fillsBatch(): boolean {
    let left = this.#maxBatch
    if (this.#dirty.size < left) return false
    for (const { isBeingReset } of this.#dirty.keys()) if (!isBeingReset && --left === 0) return true
    return false
  }

  /** Entries with units that are not in a batch. */
  get entries(): Iterable<CounterEntry> {
    return this.#dirty.keys()
  }

  /** Entries of the waiting groups; an entry of several groups is repeated. */
  get groupEntries(): Iterable<CounterEntry> {
    return this.#groups.flatMap(({ entries }) => entries)
  }

  add(entry: CounterEntry): void {
    if (!this.#dirty.has(entry)) this.#dirty.set(entry, this.nextTurn())
  }

  addGroup(pending: PendingGroup): void {
    this.#groups.push(pending)
  }

  nextTurn(): number {
    return ++this.#turn
  }

  remove(entry: CounterEntry): void {
    this.#dirty.delete(entry)
  }

  /** Removes a group from the queue. Returns false if it is already in a batch. */
  withdraw(pending: PendingGroup): boolean {
    if (!this.#groups.includes(pending)) return false
    this.#groups = this.#groups.filter((other) => other !== pending)
    pending.release()
    return true
  }

  /**
   * Takes the next batch. Groups come first, since callers wait for them, then entries whose ids are not in these
   * groups, so that a reset can drop their units separately.
   */
  take(): OutgoingBatch | undefined {
    const oldest = this.oldestTurn
    const groups = this.#takeGroups()
    const entries = this.#takeEntries(new Set(groups.flatMap((pending) => pending.entries)))
    if (groups.length === 0 && entries.length === 0) return undefined
    return { number: ++this.#number, entries, groups, turn: oldest }
  }

  /** Takes at least one entry, even if the groups fill the batch: otherwise groups could delay the entries forever. */
  #takeEntries(taken: ReadonlySet<CounterEntry>): readonly CounterEntry[] {
    const next: CounterEntry[] = []
    const skipped = new Set(this.#skipped)
    for (const entry of this.#dirty.keys()) {
      if (next.length > 0 && taken.size + next.length >= this.#maxBatch) break
      if (taken.has(entry)) skipped.add(entry)
      else if (!entry.isBeingReset && this.#sends(entry)) next.push(entry)
    }
    this.#skipped = new Set([...skipped].filter((entry) => this.#dirty.has(entry)))
    return next
  }

  /**
   * Moves units of an entry into the batch. Units counted after a reset with unknown outcome keep their turn for the
   * next batch.
   */
  #sends(entry: CounterEntry): boolean {
    const isSent = entry.send()
    if (!entry.waits) this.#dirty.delete(entry)
    return isSent
  }

  /** Takes the groups of the next batch, at most one per token: the second is decided by the outcome of the first. */
  #takeGroups(): readonly PendingGroup[] {
    const next: PendingGroup[] = []
    const tokens = new Set<string>()
    let ids = 0
    this.#groups = this.#groups.filter((pending) => {
      const { token } = pending
      const isFull = next.length > 0 && ids + pending.entries.length > this.#maxBatch
      const mustWait = pending.entries.some((entry) => this.#skipped.has(entry) && !entry.isBeingReset)
      if (isFull || mustWait || (token !== undefined && tokens.has(token))) return true
      ids += pending.entries.length
      if (token !== undefined) tokens.add(token)
      next.push(pending)
      return false
    })
    return next
  }
}

/** Returns a batch in the form that a ledger applies, at clock time `now`. */
export function batchOf({ number, entries, groups }: OutgoingBatch, writer: string, now: number): CounterBatch {
  return {
    writer,
    number,
    deltas: entries.map(({ id, sending, sendingSince }) => ({ id, amount: sending, ageMs: now - sendingSince })),
    groups: groups.map((pending): TokenGroup => pending.sentAt(now)),
  }
}
