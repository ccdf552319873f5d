import { type LogItem, ReplicaLog } from './replica-log.ts'

/** Clock up to which each log is known, by replica. */
export type Clocks = ReadonlyMap<string, number>

/** Part of a log: all items after `base`, up to `upTo`, that no later item has replaced. */
export interface LogPart {
  readonly replica: string
  /**
   * Clock up to which the receiver had the log, or did not need it, according to its request. A receiver that has less
   * of the log by now, because it accepts more than it did then, lacks the items in between.
   */
  readonly base: number
  /** Items up to this clock may have been dropped. */
  readonly floor: number
  readonly upTo: number
  readonly items: readonly SentItem[]
  /**
   * Whether more parts must arrive before this one may be merged. An item after `upTo` may have replaced one before it,
   * which is then in no part, so a log is known up to a clock only once it was sent completely.
   */
  readonly isCut: boolean
}

export interface SentItem extends Omit<LogItem, 'bornAt'> {
  /** Time since the item was written, in ms. */
  readonly ageMs: number
}

/** Receives each item once, in the order of its log. */
export interface TableListener {
  /** Returns false if the item arrived after its time. */
  received(replica: string, item: LogItem): boolean
  /** Called when a replica discarded items before this process received them. */
  missed(replica: string): void
  /** Returns the clock up to which a log may be replicated here: 0 for an unwanted log. */
  acceptedClock(replica: string): number
  /** Whether a log may be sent to a replica that has nothing of it. */
  mayIntroduce(replica: string, to: string): boolean
  /** Whether items of a log expire by age. */
  expiresByAge(replica: string): boolean
  /** Whether a log may contain an item; other items are ignored. */
  belongs(replica: string, item: LogItem): boolean
  /** Called for each part of an unknown log and for each item that is ignored. */
  ignored(reason: IgnoredReason): void
}

/** `too-many-logs`: the table is full; `other-kind`: the item does not belong to its log. */
export type IgnoredReason = 'too-many-logs' | 'other-kind'

/** Maximum number of logs of other processes. The clocks of so many logs fit in one message. */
export const MAX_LOGS = 3_000
/** Number of logs that remain when empty logs of a full table are forgotten. */
const LOGS_LEFT = MAX_LOGS / 2

/** Maximum number of bytes of the clock and age of an item in a message. */
const ITEM_BYTES = 40
/** Maximum number of bytes of a part besides its name and items. */
const PART_BYTES = 64

/**
 * Logs of all replicas as this one knows them: its own logs, to which it appends, and copies of the others. Two tables
 * are equal once each has sent the other the parts after its clocks, in any order and any number of times.
 */
export class ReplicaTable {
  readonly own: ReplicaLog
  readonly #logs = new Map<string, ReplicaLog>()
  /** Logs to which only this process appends. */
  readonly #owned = new Set<ReplicaLog>()
  readonly #listener: TableListener

  constructor(replica: string, now: number, listener: TableListener) {
    this.own = new ReplicaLog(replica, now)
    this.#logs.set(replica, this.own)
    this.#owned.add(this.own)
    this.#listener = listener
  }

  /** Opens another log to which only this process appends. */
  open(replica: string, now: number): ReplicaLog {
    const log = new ReplicaLog(replica, now)
    this.#logs.set(replica, log)
    this.#owned.add(log)
    return log
  }

  /** Stops owning a log: from now on it may be replicated from other processes, too. */
  release(log: ReplicaLog): void {
    this.#owned.delete(log)
  }

  /** Returns undefined for an unknown log. */
  logOf(replica: string): ReplicaLog | undefined {
    return this.#logs.get(replica)
  }

  /** Adds a forgotten log again. */
  restore(log: ReplicaLog): void {
    this.#logs.set(log.replica, log)
  }

  forget(replica: string): void {
    this.#logs.delete(replica)
  }

  /** Appends an item to a log of this process. */
  write(content: Pick<LogItem, 'key' | 'value' | 'bytes'>, bornAt: number, log: ReplicaLog = this.own): LogItem {
    const item: LogItem = { ...content, clock: log.clock + 1, bornAt }
    log.put(item)
    return item
  }

  /**
   * Returns the clocks of logs with items, and of the logs in `named`. Other empty logs are left over from replicas
   * that are gone.
   */
  clocks(named: Clocks = new Map()): Clocks {
    const logs = [...this.#logs.values()].filter(({ replica, size }) => size > 0 || named.has(replica))
    return new Map(logs.map(({ replica, clock }) => [replica, clock]))
  }

  /** Whether a table with these clocks has items that this table wants and never had. */
  isBehind(clocks: Clocks): boolean {
    for (const [replica, clock] of clocks) if (this.accepts(replica, clock)) return true
    return false
  }

  /** Returns the clocks of the logs of which `clocks` has more than this table accepts. */
  unwanted(clocks: Clocks): (readonly [replica: string, clock: number])[] {
    const known = (replica: string): number => this.#logs.get(replica)?.clock ?? 0
    return [...clocks].filter(([name, at]) => at > known(name) && !this.accepts(name, at))
  }

  /** Returns what a table with these clocks lacks, up to about `maxBytes`. The next request gets the rest. */
  partsBehind(clocks: Clocks, { to, now, maxBytes, mayCut }: PartsRequest): LogPart[] {
    const parts: LogPart[] = []
    let room = maxBytes
    const longer = [...this.#logs.values()].filter(({ replica, clock }) => {
      const known = clocks.get(replica) ?? 0
      return clock > known && (known > 0 || this.#listener.mayIntroduce(replica, to))
    })
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

  /**
   * Merges new items and returns whether there were any. Known items, items of the logs of this process, and new logs
   * of a full table are ignored.
   */
  merge(parts: readonly LogPart[], now: number): boolean {
    let isMoved = false
    for (const part of parts) {
      const isJoined = part.base <= (this.#logs.get(part.replica)?.clock ?? 0)
      if (part.isCut || !isJoined || !this.takes(part.replica, part.upTo)) continue
      this.#mergePart(part, now)
      isMoved = true
    }
    return isMoved
  }

  /**
   * Drops items for which `isOld` returns true, and logs of other replicas that have been empty for `emptyMs`, or less
   * if the table is full.
   */
  drop(isOld: (item: LogItem, replica: string) => boolean, now: number, emptyMs: number): void {
    for (const log of this.#logs.values()) {
      if (this.#listener.expiresByAge(log.replica)) log.drop((item) => isOld(item, log.replica), now)
      const { replica, emptySince = now } = log
      if (!this.#owned.has(log) && now - emptySince >= emptyMs) this.#logs.delete(replica)
    }
    if (this.#isFull) this.#forgetEmpty()
  }

  /** Whether items up to `clock` are new and may be merged. */
  accepts(replica: string, clock: number): boolean {
    return this.#wants(replica, clock) && (this.#logs.has(replica) || !this.#isFull)
  }

  /** Returns `accepts` for items that were received. Reports items that are ignored because the table is full. */
  takes(replica: string, clock: number): boolean {
    const isTaken = this.accepts(replica, clock)
    if (!isTaken && this.#wants(replica, clock)) this.#listener.ignored('too-many-logs')
    return isTaken
  }

  #wants(replica: string, clock: number): boolean {
    const log = this.#logs.get(replica)
    if (log && this.#owned.has(log)) return false
    return clock > (log?.clock ?? 0) && clock <= this.#listener.acceptedClock(replica)
  }

  get #isFull(): boolean {
    return this.#logs.size - this.#owned.size >= MAX_LOGS
  }

  /** Forgets empty logs of other replicas, those that have been empty longest first. */
  #forgetEmpty(): void {
    const empty = [...this.#logs.values()].filter((log) => log.emptySince !== undefined && !this.#owned.has(log))
    empty.sort((one, other) => (one.emptySince ?? 0) - (other.emptySince ?? 0))
    const excess = this.#logs.size - this.#owned.size - LOGS_LEFT
    for (const { replica } of empty.slice(0, excess)) this.#logs.delete(replica)
  }

  #mergePart({ replica, floor, upTo, items }: LogPart, now: number): void {
    const log = this.#logs.get(replica) ?? new ReplicaLog(replica, now)
    this.#logs.set(replica, log)
    // a log seen for the first time has no missed items: this replica joined later
    const isKnown = log.clock > 0
    let isMissed = isKnown && floor > log.clock
    if (isMissed) this.#listener.missed(replica)
    log.droppedTo = Math.max(log.droppedTo, floor)
    for (const { clock, key, value, bytes, ageMs } of items) {
      if (clock <= log.clock) continue
      const item: LogItem = { clock, key, value, bytes, bornAt: now - ageMs }
      if (!this.#listener.belongs(replica, item)) {
        this.#listener.ignored('other-kind')
        continue
      }
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

export interface PartsRequest {
  /** The replica that receives the parts. */
  readonly to: string
  readonly now: number
  readonly maxBytes: number
  /** Whether a log that is too long may be sent in part. */
  readonly mayCut: boolean
}

interface PartLimits {
  readonly known: number
  readonly now: number
  readonly room: number
  /** Whether this is the first part: it contains at least one item, however large. */
  readonly isFirst: boolean
}

function partOf(
  log: ReplicaLog,
  { known, now, room, isFirst }: PartLimits,
): { readonly part: LogPart | undefined; readonly bytes: number } {
  const items: SentItem[] = []
  let bytes = log.replica.length + PART_BYTES
  let isWhole = true
  for (const { clock, key, value, bytes: content, bornAt } of log.after(known)) {
    const size = ITEM_BYTES + content
    if (bytes + size > room && !(isFirst && items.length === 0)) {
      isWhole = false
      break
    }
    bytes += size
    const ageMs = Math.min(Math.max(0, Math.round(now - bornAt)), Number.MAX_SAFE_INTEGER)
    items.push({ clock, key, value, bytes: content, ageMs })
  }
  const upTo = isWhole ? log.clock : (items.at(-1)?.clock ?? 0)
  const part = { replica: log.replica, base: known, floor: log.droppedTo, upTo, items, isCut: !isWhole }
  return { part: upTo > known ? part : undefined, bytes }
}
