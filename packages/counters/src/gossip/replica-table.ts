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

export interface SentItem extends Omit<LogItem, 'bornAt'> {
  /** How long ago it was written, in ms. */
  readonly ageMs: number
}

/** Hears of each item once, in the order of its log. */
export interface TableListener {
  /** False where it came too late. */
  received(replica: string, item: LogItem): boolean
  /** Items of a replica were gone before they came here. */
  missed(replica: string): void
}

/** Of an item, its clock and age in a message, about. */
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

  /** Writes an item of its own. */
  write(content: Pick<LogItem, 'key' | 'value' | 'bytes'>, now: number): LogItem {
    const item: LogItem = { ...content, clock: this.own.clock + 1, bornAt: now }
    this.own.put(item)
    return item
  }

  /** Of logs with items, and of those that `named` has: replicas that are gone leave an empty one each. */
  clocks(named: Clocks = new Map()): Clocks {
    const told = [...this.#logs.values()].filter(({ replica, size }) => size > 0 || named.has(replica))
    return new Map(told.map(({ replica, clock }) => [replica, clock]))
  }

  /** Whether a table with these clocks has something that this one never had. */
  isBehind(clocks: Clocks): boolean {
    for (const [replica, clock] of clocks) if (clock > (this.#logs.get(replica)?.clock ?? 0)) return true
    return false
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
    const isKnown = log.clock > 0
    let isMissed = isKnown && floor > log.clock
    if (isMissed) this.#listener.missed(replica)
    log.floor = Math.max(log.floor, floor)
    for (const { clock, key, value, bytes, ageMs } of items) {
      if (clock <= log.clock) continue
      const item: LogItem = { clock, key, value, bytes, bornAt: now - ageMs }
      log.put(item)
      const isLate = !this.#listener.received(replica, item)
      if (isLate && isKnown && !isMissed) {
        isMissed = true
        this.#listener.missed(replica)
      }
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
  for (const { clock, key, value, bytes: content, bornAt } of log.after(known)) {
    const size = ITEM_BYTES + content
    if (bytes + size > room && !(isFirst && items.length === 0)) {
      isWhole = false
      break
    }
    bytes += size
    items.push({ clock, key, value, bytes: content, ageMs: Math.max(0, Math.round(now - bornAt)) })
  }
  const upTo = isWhole ? log.clock : (items.at(-1)?.clock ?? 0)
  const part = { replica: log.replica, floor: log.floor, upTo, items }
  return { part: upTo > known ? part : undefined, bytes }
}
