import { type LogItem, ReplicaLog } from './replica-log.ts'

/** How far each log is known, by replica. */
export type Clocks = ReadonlyMap<string, number>

/** A part of a log: all of its items behind a clock of the receiver, up to `upTo`, that still stand. */
export interface LogPart {
  readonly replica: string
  /** Items up to this one may have been dropped. */
  readonly floor: number
  readonly upTo: number
  readonly items: readonly SentItem[]
}

export interface SentItem {
  readonly clock: number
  readonly key: string
  readonly value: unknown
  /** How long ago it was written, in ms. */
  readonly ageMs: number
}

/** Hears of each item once, in the order of its log. */
export interface TableListener {
  received(replica: string, item: LogItem): void
  /** Items of a replica were gone before they came here. */
  missed(replica: string): void
}

/** Of an item, its clock, key and age in a message, about. */
const ITEM_BYTES = 40

/**
 * The logs of all replicas, as one of them knows them: its own, to which it adds, and copies of the others'. Two tables
 * are equal once each has sent the other the parts behind its clocks, in whatever order, however often.
 */
export class ReplicaTable {
  readonly own: ReplicaLog
  readonly #logs = new Map<string, ReplicaLog>()
  readonly #listener: TableListener

  constructor(replica: string, now: number, listener: TableListener) {
    this.own = new ReplicaLog(replica, now)
    this.#logs.set(replica, this.own)
    this.#listener = listener
  }

  get replicas(): Iterable<string> {
    return this.#logs.keys()
  }

  get logs(): Iterable<ReplicaLog> {
    return this.#logs.values()
  }

  /** Writes an item of its own. */
  write(key: string, value: unknown, now: number): LogItem {
    const item: LogItem = { clock: this.own.clock + 1, key, value, bornAt: now }
    this.own.put(item)
    return item
  }

  /** Of logs with items: one without has nothing to tell, and replicas that are gone leave one each. */
  clocks(): Clocks {
    const told = [...this.#logs.values()].filter(({ size }) => size > 0)
    return new Map(told.map(({ replica, clock }) => [replica, clock]))
  }

  /** What a table with these clocks lacks, at most about `maxBytes` of it: whoever asks again gets the rest. */
  partsBehind(clocks: Clocks, { now, maxBytes }: { readonly now: number; readonly maxBytes: number }): LogPart[] {
    const parts: LogPart[] = []
    let room = maxBytes
    for (const log of this.#logs.values()) {
      const known = clocks.get(log.replica) ?? 0
      if (log.clock <= known || log.size === 0) continue
      const { part, bytes } = partOf(log, { known, now, room, isFirst: parts.length === 0 })
      room -= bytes
      if (part) parts.push(part)
      if (room <= 0) break
    }
    return parts
  }

  /** Takes over what is new; what is known already, and what others say of its own log, changes nothing. */
  merge(parts: readonly LogPart[], now: number): void {
    for (const part of parts) if (part.replica !== this.own.replica) this.#mergePart(part, now)
  }

  /** Drops items for which `isOld` holds, and logs of others that have been empty for `emptyMs`. */
  drop(isOld: (item: LogItem, replica: string) => boolean, now: number, emptyMs: number): void {
    for (const log of this.#logs.values()) {
      log.drop((item) => isOld(item, log.replica), now)
      const { replica, emptySince = now } = log
      if (log !== this.own && now - emptySince >= emptyMs) this.#logs.delete(replica)
    }
  }

  #mergePart({ replica, floor, upTo, items }: LogPart, now: number): void {
    const log = this.#logs.get(replica) ?? new ReplicaLog(replica, now)
    if (upTo <= log.clock) return
    this.#logs.set(replica, log)
    // of a log that is met for the first time nothing was missed: this one came later
    if (floor > log.clock && log.clock > 0) this.#listener.missed(replica)
    log.floor = Math.max(log.floor, floor)
    for (const { clock, key, value, ageMs } of items) {
      if (clock <= log.clock) continue
      const item: LogItem = { clock, key, value, bornAt: now - ageMs }
      log.put(item)
      this.#listener.received(replica, item)
    }
    log.advanceTo(upTo)
  }
}

interface PartLimits {
  readonly known: number
  readonly now: number
  readonly room: number
  /** The first one has an item at least, however large. */
  readonly isFirst: boolean
}

function partOf(
  log: ReplicaLog,
  { known, now, room, isFirst }: PartLimits,
): { readonly part: LogPart | undefined; readonly bytes: number } {
  const items: SentItem[] = []
  let bytes = log.replica.length + ITEM_BYTES
  let isWhole = true
  for (const { clock, key, value, bornAt } of log.after(known)) {
    const size = ITEM_BYTES + Buffer.byteLength(JSON.stringify([key, value]))
    if (bytes + size > room && !(isFirst && items.length === 0)) {
      isWhole = false
      break
    }
    bytes += size
    items.push({ clock, key, value, ageMs: Math.max(0, Math.round(now - bornAt)) })
  }
  const upTo = isWhole ? log.clock : (items.at(-1)?.clock ?? 0)
  const part = { replica: log.replica, floor: log.floor, upTo, items }
  return { part: upTo > known ? part : undefined, bytes }
}
