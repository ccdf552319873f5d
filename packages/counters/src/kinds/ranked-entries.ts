/** A member of a `Leaderboard`. */
export interface LeaderboardEntry {
  readonly member: string
  /** A whole number within ±(2^53 - 1). */
  readonly score: number
}

/** So many are moved for one that comes at most; a million members are some 3,000 blocks. */
const MOST = 512
const FEW = MOST / 4

/** The higher score first, and of equal ones the member that comes first by its UTF-16 units. */
export function byRank(one: LeaderboardEntry, other: LeaderboardEntry): number {
  if (one.score !== other.score) return other.score - one.score
  if (one.member === other.member) return 0
  return one.member < other.member ? -1 : 1
}

/** Entries in the order of their ranks, in blocks that are each in order: O(log n) to find one, O(√n) to move one. */
export class RankedEntries {
  /** None of them empty. */
  readonly #blocks: LeaderboardEntry[][] = []

  add(entry: LeaderboardEntry): void {
    const at = this.#blockOf(entry)
    const block = this.#blocks[at]
    if (!block) {
      this.#blocks.push([entry])
      return
    }
    block.splice(placeIn(block, entry), 0, entry)
    if (block.length > MOST) this.#blocks.splice(at + 1, 0, block.splice(MOST / 2))
  }

  /** One that is there. */
  delete(entry: LeaderboardEntry): void {
    const at = this.#blockOf(entry)
    const block = this.#blocks[at]
    block.splice(placeIn(block, entry), 1)
    if (block.length < FEW) this.#join(at)
  }

  /** How many come before it. */
  placeOf(entry: LeaderboardEntry): number {
    const at = this.#blockOf(entry)
    let before = 0
    for (let n = 0; n < at; n++) before += this.#blocks[n].length
    return before + placeIn(this.#blocks[at], entry)
  }

  first(count: number): readonly LeaderboardEntry[] {
    const first: LeaderboardEntry[] = []
    for (const block of this.#blocks) {
      if (first.length >= count) break
      for (const entry of block.slice(0, count - first.length)) first.push(entry)
    }
    return first
  }

  /** With the block before it, or the one behind, where both are one. */
  #join(at: number): void {
    const first = Math.max(0, at - 1)
    const [one, other] = this.#blocks.slice(first, first + 2)
    if (other && one.length + other.length <= MOST) this.#blocks.splice(first, 2, [...one, ...other])
    else if (this.#blocks[at].length === 0) this.#blocks.splice(at, 1)
  }

  /** The last block whose first entry does not come behind it; the first one where all do. */
  #blockOf(entry: LeaderboardEntry): number {
    let [low, high] = [0, this.#blocks.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (byRank(this.#blocks[middle][0], entry) <= 0) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Of the first entry in a block that does not come before it. */
function placeIn(block: readonly LeaderboardEntry[], entry: LeaderboardEntry): number {
  let [low, high] = [0, block.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byRank(block[middle], entry) < 0) low = middle + 1
    else high = middle
  }
  return low
}
