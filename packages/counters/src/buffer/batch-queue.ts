import type { CounterBatch, TokenGroup } from '../ledger/counter-ledger.ts'
import type { CounterEntry } from './counter-entry.ts'
import type { PendingGroup } from './pending-group.ts'

/** What goes out together, and is sent again as it is until it is answered. */
export interface Shipment {
  readonly number: number
  readonly entries: readonly CounterEntry[]
  readonly groups: readonly PendingGroup[]
  /** Turn of the first that came of what is in it. */
  readonly turn: number
}

/**
 * What a process counted and is in no batch yet, in turns: everything that waits has one, later ones higher ones. Units
 * of one id wait as one entry, and groups, which count together or not at all, each by itself.
 */
export class BatchQueue {
  readonly #maxBatch: number
  #number = 0
  /** Of what came last. */
  #turn = 0
  /** Entries with units that are in no batch yet, and their turns, the oldest first. */
  readonly #dirty = new Map<CounterEntry, number>()
  /** Those of them that the last batch left, since groups of it had their ids: groups of the next one wait for them. */
  #passedOver: ReadonlySet<CounterEntry> = new Set()
  #groups: PendingGroup[] = []

  /** `maxBatch`: most ids of a batch, unless one group has more. */
  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch
  }

  /** Of what came last, and of nothing that comes. */
  get lastTurn(): number {
    return this.#turn
  }

  /** Of the first that came, unless that is being reset; infinite where there is nothing. */
  get oldestTurn(): number {
    const group = this.#groups[0]?.turn ?? Number.POSITIVE_INFINITY
    for (const [{ isBeingReset }, turn] of this.#dirty) if (!isBeingReset) return Math.min(group, turn)
    return group
  }

  /** Ids that wait. */
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

  /** Entries with units that are in no batch. */
  get entries(): Iterable<CounterEntry> {
    return this.#dirty.keys()
  }

  /** Entries that groups wait with, some of them more than once. */
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

  /** False where it is in a batch already. */
  withdraw(pending: PendingGroup): boolean {
    if (!this.#groups.includes(pending)) return false
    this.#groups = this.#groups.filter((other) => other !== pending)
    pending.release()
    return true
  }

  /** The next batch: groups first, since somebody waits; then units of other ids than theirs, which a reset may take away apart. */
  take(): Shipment | undefined {
    const oldest = this.oldestTurn
    const groups = this.#takeGroups()
    const entries = this.#takeEntries(new Set(groups.flatMap((pending) => pending.entries)))
    if (groups.length === 0 && entries.length === 0) return undefined
    return { number: ++this.#number, entries, groups, turn: oldest }
  }

  /** One at least, or groups could keep the others waiting for good. */
  #takeEntries(taken: ReadonlySet<CounterEntry>): readonly CounterEntry[] {
    const next: CounterEntry[] = []
    const passedOver = new Set(this.#passedOver)
    for (const entry of this.#dirty.keys()) {
      if (next.length > 0 && taken.size + next.length >= this.#maxBatch) break
      if (taken.has(entry)) passedOver.add(entry)
      else if (!entry.isBeingReset && this.#sends(entry)) next.push(entry)
    }
    this.#passedOver = new Set([...passedOver].filter((entry) => this.#dirty.has(entry)))
    return next
  }

  /** What was counted after a reset in doubt keeps its turn for the next batch. */
  #sends(entry: CounterEntry): boolean {
    const isSent = entry.send()
    if (!entry.waits) this.#dirty.delete(entry)
    return isSent
  }

  /** Those of one batch: no two with one token, of which the second is decided by what the first one did. */
  #takeGroups(): readonly PendingGroup[] {
    const next: PendingGroup[] = []
    const tokens = new Set<string>()
    let ids = 0
    this.#groups = this.#groups.filter((pending) => {
      const { token } = pending
      const isFull = next.length > 0 && ids + pending.entries.length > this.#maxBatch
      const isBehind = pending.entries.some((entry) => this.#passedOver.has(entry) && !entry.isBeingReset)
      if (isFull || isBehind || (token !== undefined && tokens.has(token))) return true
      ids += pending.entries.length
      if (token !== undefined) tokens.add(token)
      next.push(pending)
      return false
    })
    return next
  }
}

/** A shipment as a ledger takes it, at `now`. */
export function batchOf({ number, entries, groups }: Shipment, writer: string, now: number): CounterBatch {
  return {
    writer,
    number,
    deltas: entries.map(({ id, sending, sendingSince }) => ({ id, amount: sending, ageMs: now - sendingSince })),
    groups: groups.map((pending): TokenGroup => pending.sentAt(now)),
  }
}
