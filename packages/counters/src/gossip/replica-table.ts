import { type LogItem, ReplicaLog } from './replica-log.ts'

/** How far each log is known, by replica. */
export type Clocks = ReadonlyMap<string, number>

/** A part of a log: all of its items behind `base`, up to `upTo`, that still stand. */
export interface LogPart {
  readonly replica: string
  /**
   * How far the receiver had the log, or was not to get it, when it said so. Whoever has it less far by now, since it
   * takes over more than it did then, lacks what is between.
   */
  readonly base: number
  /** Items up to this one may have been dropped. */
  readonly floor: number
  readonly upTo: number
  readonly items: readonly SentItem[]
  /**
   * Whether more items are to come before it may be merged: what an item behind `upTo` replaced is in no part, so that
   * a log is known as far as a clock only once it was sent to its end.
   */
  readonly isCut: boolean
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
  /** How far a log may be taken over: 0 for one that is not wanted here. */
  limitOf(replica: string): number
  /** Whether items of a log are dropped by their ages. */
  isAging(replica: string): boolean
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
  /** Those that this process alone adds to. */
  readonly #owned = new Set<ReplicaLog>()
  readonly #listener: TableListener

  constructor(replica: string, now: number, listener: TableListener) {
    this.own = new ReplicaLog(replica, now)
    this.#logs.set(replica, this.own)
    this.#owned.add(this.own)
    this.#listener = listener
  }

  /** One more log that this process alone adds to. */
  open(replica: string, now: number): ReplicaLog {
    const log = new ReplicaLog(replica, now)
    this.#logs.set(replica, log)
    this.#owned.add(log)
    return log
  }

  /** From now on `log` is one that another process might have written. */
  release(log: ReplicaLog): void {
    this.#owned.delete(log)
  }

  /** Undefined for one that is not known. */
  logOf(replica: string): ReplicaLog | undefined {
    return this.#logs.get(replica)
  }

  /** A log that was forgotten is known again. */
  restore(log: ReplicaLog): void {
    this.#logs.set(log.replica, log)
  }

  forget(replica: string): void {
    this.#logs.delete(replica)
  }

  /** Writes an item of its own. */
  write(content: Pick<LogItem, 'key' | 'value' | 'bytes'>, bornAt: number, log: ReplicaLog = this.own): LogItem {
    const item: LogItem = { ...content, clock: log.clock + 1, bornAt }
    log.put(item)
    return item
  }

  /** Of logs with items, and of those that `named` has: replicas that are gone leave an empty one each. */
  clocks(named: Clocks = new Map()): Clocks {
    const told = [...this.#logs.values()].filter(({ replica, size }) => size > 0 || named.has(replica))
    return new Map(told.map(({ replica, clock }) => [replica, clock]))
  }

  /** Whether a table with these clocks has something that this one never had. */
  isBehind(clocks: Clocks): boolean {
    for (const [replica, clock] of clocks) if (this.wants(replica, clock)) return true
    return false
  }

  /** Of these logs those that this table does not take over. */
  refused(clocks: Clocks): string[] {
    const known = (replica: string): number => this.#logs.get(replica)?.clock ?? 0
    return [...clocks].filter(([name, at]) => at > known(name) && !this.wants(name, at)).map(([name]) => name)
  }

  /** What a table with these clocks lacks, at most about `maxBytes` of it: whoever asks again gets the rest. */
  partsBehind(
    clocks: Clocks,
    { now, maxBytes, mayCut }: { readonly now: number; readonly maxBytes: number; readonly mayCut: boolean },
  ): LogPart[] {
    const parts: LogPart[] = []
    let room = maxBytes
    const longer = [...this.#logs.values()].filter(({ replica, clock }) => clock > (clocks.get(replica) ?? 0))
    for (const log of longer) {
      const known = clocks.get(log.replica) ?? 0
      if (log.size === 0) continue
      const { part, bytes } = partOf(log, { known, now, room, isFirst: parts.length === 0 })
      const isSent = part !== undefined && (mayCut || !part.isCut)
      room -= isSent ? bytes : 0
      if (isSent) parts.push(part)
      if (room <= 0) break
    }
    return parts
  }

  /** Takes over what is new; what is known already, and what others say of its own logs, changes nothing. Answers whether anything was new. */
  merge(parts: readonly LogPart[], now: number): boolean {
    let isMoved = false
    for (const part of parts) {
      const isJoined = part.base <= (this.#logs.get(part.replica)?.clock ?? 0)
      if (part.isCut || !isJoined || !this.wants(part.replica, part.upTo)) continue
      this.#mergePart(part, now)
      isMoved = true
    }
    return isMoved
  }

  /** Drops items for which `isOld` holds, and logs of others that have been empty for `emptyMs`. */
  drop(isOld: (item: LogItem, replica: string) => boolean, now: number, emptyMs: number): void {
    for (const log of this.#logs.values()) {
      if (!this.#listener.isAging(log.replica)) continue
      log.drop((item) => isOld(item, log.replica), now)
      const { replica, emptySince = now } = log
      if (!this.#owned.has(log) && now - emptySince >= emptyMs) this.#logs.delete(replica)
    }
  }

  /** Whether items up to `clock` would be new, and may be taken over. */
  wants(replica: string, clock: number): boolean {
    const log = this.#logs.get(replica)
    if (log && this.#owned.has(log)) return false
    return clock > (log?.clock ?? 0) && clock <= this.#listener.limitOf(replica)
  }

  #mergePart({ replica, floor, upTo, items }: LogPart, now: number): void {
    const log = this.#logs.get(replica) ?? new ReplicaLog(replica, now)
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
  const part = { replica: log.replica, base: known, floor: log.floor, upTo, items, isCut: !isWhole }
  return { part: upTo > known ? part : undefined, bytes }
}
