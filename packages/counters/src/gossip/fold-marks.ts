/** That a log was taken over: up to which clock, and when by the clock of whoever holds this. */
export interface FoldMark {
  readonly clock: number
  readonly bornAt: number
}

export interface FoldMarkBounds {
  /** Marks of one log; of more the oldest end, once they are `leastMs` old. */
  readonly most: number
  /** Each lasts so long at least: until then a fold may turn out to be void. */
  readonly leastMs: number
  /** Of marks that ended so many are remembered, the latest ones. */
  readonly mostEnded: number
}

/**
 * Which replicas were taken over, as the logs of those say that did it. A mark that ended stands in no log any more, so
 * that nobody has to send it; whoever knew it remembers it, and marks the replica anew should its log come back.
 */
export class FoldMarks {
  readonly #bounds: FoldMarkBounds
  /** In whose logs it stands that a replica was taken over. */
  readonly #folders = new Map<string, Set<string>>()
  /** By the log in which they stand, in its order. */
  readonly #marks = new Map<string, Map<string, FoldMark>>()
  /** By replica, in the order in which they ended. */
  readonly #ended = new Map<string, FoldMark>()

  constructor(bounds: FoldMarkBounds) {
    this.#bounds = bounds
  }

  /** Replicas that are known to be taken over. */
  get size(): number {
    return this.#folders.size + this.#ended.size
  }

  isFolded(replica: string): boolean {
    return this.#folders.has(replica) || this.#ended.has(replica)
  }

  /** The mark of a replica that stands in no log any more. */
  endedOf(replica: string): FoldMark | undefined {
    return this.#ended.get(replica)
  }

  /** Those in the log of a replica. */
  of(by: string): ReadonlyMap<string, FoldMark> {
    return this.#marks.get(by) ?? new Map()
  }

  /**
   * `by` took over `replica`. Answers of whom nobody has the entries any more: their marks stood in the log of `replica`
   * behind what was taken over.
   */
  add(replica: string, by: string, mark: FoldMark): readonly string[] {
    this.#ended.delete(replica)
    const folders = this.#folders.get(replica) ?? new Set<string>()
    this.#folders.set(replica, folders.add(by))
    const marks = this.#marks.get(by) ?? new Map<string, FoldMark>()
    this.#marks.set(by, marks.set(replica, mark))
    const names = [...this.of(replica).keys()]
    for (const name of names) this.#remove(name, replica)
    return names.filter((name) => !this.isFolded(name))
  }

  /** Ends the oldest ones of each log that has too many, and answers where they stood. */
  endOld(now: number): readonly { readonly replica: string; readonly by: string }[] {
    const old = [...this.#marks.keys()].flatMap((by) => this.#old(by, now))
    for (const { replica, by, mark } of old) {
      this.#remove(replica, by)
      if (!this.#folders.has(replica)) this.#ended.set(replica, mark)
    }
    const excess = Math.max(0, this.#ended.size - this.#bounds.mostEnded)
    for (const replica of [...this.#ended.keys()].slice(0, excess)) this.#ended.delete(replica)
    return old
  }

  #old(by: string, now: number): readonly { readonly replica: string; readonly by: string; readonly mark: FoldMark }[] {
    const { most, leastMs } = this.#bounds
    if (this.of(by).size <= most) return []
    return Array.from(this.of(by), ([replica, mark]) => ({ replica, by, mark }))
      .sort((one, other) => one.mark.bornAt - other.mark.bornAt)
      .slice(0, -most)
      .filter(({ mark }) => now - mark.bornAt >= leastMs)
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
