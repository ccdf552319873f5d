/** Mark of a log that was taken over. */
export interface FoldMark {
  /** Up to which clock the log was taken over. */
  readonly clock: number
  /** Process time of the take-over. */
  readonly bornAt: number
  /** Clock of the mark in the log of the replica that took the log over. */
  readonly at: number
}

export interface FoldMarkBounds {
  /** Maximum number of marks in one log. The oldest marks beyond it end once they are `leastMs` old. */
  readonly most: number
  /** Minimum lifetime of a mark in ms; until then a take-over may turn out to be void. */
  readonly leastMs: number
}

/** Maximum number of marks that are remembered after they were removed from all logs; the latest ones. */
const MAX_ENDED = 10_000

/**
 * Replicas that were taken over, according to the logs of the replicas that took them over. An ended mark is in no log
 * any longer, so it is not sent to anyone; a replica that knew the mark remembers it and writes it again if the log of
 * the taken-over replica reappears.
 */
export class FoldMarks {
  readonly #bounds: FoldMarkBounds
  /** Replicas whose logs contain a mark, by the name of the replica that was taken over. */
  readonly #folders = new Map<string, Set<string>>()
  /** Marks by log, in the order of that log. */
  readonly #marks = new Map<string, Map<string, FoldMark>>()
  /** Ended marks by replica, in the order in which they ended. */
  readonly #ended = new Map<string, FoldMark>()

  constructor(bounds: FoldMarkBounds) {
    this.#bounds = bounds
  }

  /** Number of replicas that are known to be taken over. */
  get size(): number {
    return this.#folders.size + this.#ended.size
  }

  isFolded(replica: string): boolean {
    return this.#folders.has(replica) || this.#ended.has(replica)
  }

  /** Whether marks made since `bornAt` (process time) may have ended already: a full log has only later ones. */
  mayLack(bornAt: number): boolean {
    return [...this.#marks.values()].some(
      (marks) => marks.size >= this.#bounds.most && [...marks.values()].every((mark) => mark.bornAt > bornAt),
    )
  }

  /** Returns the mark of a replica if it has ended. */
  endedOf(replica: string): FoldMark | undefined {
    return this.#ended.get(replica)
  }

  /** Returns the marks in the log of a replica. */
  of(by: string): ReadonlyMap<string, FoldMark> {
    return this.#marks.get(by) ?? new Map()
  }

  /**
   * Records that `by` took over `replica`. Returns the replicas whose entries are lost: their marks are in the log of
   * `replica`, after the part that was taken over. A mark in that part that `by` does not have has ended there.
   */
  add(replica: string, by: string, mark: FoldMark): readonly string[] {
    this.#ended.delete(replica)
    const folders = this.#folders.get(replica) ?? new Set<string>()
    this.#folders.set(replica, folders.add(by))
    const marks = this.#marks.get(by) ?? new Map<string, FoldMark>()
    this.#marks.set(by, marks.set(replica, mark))
    const lost: string[] = []
    for (const [name, { at }] of [...this.of(replica)]) {
      if (at <= mark.clock) this.#end(name, replica)
      else {
        this.#remove(name, replica)
        if (!this.isFolded(name)) lost.push(name)
      }
    }
    return lost
  }

  /** Ends the oldest marks of each log that has too many, and returns where they were. */
  endOld(now: number): readonly { readonly replica: string; readonly by: string }[] {
    const old = [...this.#marks.keys()].flatMap((by) => this.#old(by, now))
    for (const { replica, by } of old) this.#end(replica, by)
    return old
  }

  /** Removes a mark, and remembers it if no other log has one of this replica. */
  #end(replica: string, by: string): void {
    const mark = this.of(by).get(replica)
    this.#remove(replica, by)
    if (!mark || this.#folders.has(replica)) return
    this.#ended.set(replica, mark)
    const [first] = this.#ended.keys()
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(first)
  }

  #old(by: string, now: number): readonly { readonly replica: string; readonly by: string }[] {
    const { most, leastMs } = this.#bounds
    if (this.of(by).size <= most) return []
    return [...this.of(by)]
      .sort(([, one], [, other]) => one.bornAt - other.bornAt)
      .slice(0, -most)
      .filter(([, { bornAt }]) => now - bornAt >= leastMs)
      .map(([replica]) => ({ replica, by }))
  }

  #remove(replica: string, by: string): void {
    const folders = this.#folders.get(replica)
    folders?.delete(by)
    if (folders?.size === 0) this.#folders.delete(replica)
    const marks = this.#marks.get(by)
    marks?.delete(replica)
    if (marks?.size === 0) this.#marks.delete(by)
  }
}
