/** A member of a `Leaderboard` and its score. */
export interface LeaderboardEntry {
  readonly member: string
  /** An integer within ±(2^53 - 1). */
  readonly score: number
}

/**
 * Maximum entries in a block, and so the maximum number an insertion moves; a million members need about 3,000 blocks.
 */
const MAX_BLOCK = 512
/** Blocks with fewer entries are joined with a neighbour. */
const MIN_BLOCK = MAX_BLOCK / 4

/** Sort order: higher scores first, equal scores by the UTF-16 code units of the member. */
export function byRank(one: LeaderboardEntry, other: LeaderboardEntry): number {
  if (one.score !== other.score) return other.score - one.score
  if (one.member === other.member) return 0
  return one.member < other.member ? -1 : 1
}

/** Entries sorted by rank, stored in sorted blocks: O(log n) to find an entry, O(√n) to insert or delete one. */
export class RankedEntries {
  /** Sorted blocks, none of them empty. */
  readonly #blocks: LeaderboardEntry[][] = []

  add(entry: LeaderboardEntry): void {
    const at = this.#blockOf(entry)
    const block = this.#blocks[at]
    if (!block) {
      this.#blocks.push([entry])
      return
    }
    block.splice(placeIn(block, entry), 0, entry)
    if (block.length > MAX_BLOCK) this.#blocks.splice(at + 1, 0, block.splice(MAX_BLOCK / 2))
  }

  /** Deletes an entry, which must be present. */
  delete(entry: LeaderboardEntry): void {
    const at = this.#blockOf(entry)
    const block = this.#blocks[at]
    block.splice(placeIn(block, entry), 1)
    if (block.length < MIN_BLOCK) this.#join(at)
  }

  /** Returns the number of entries before `entry`. */
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

  /** Joins the block at `at` with its neighbour if both fit in one block. */
  #join(at: number): void {
    const first = Math.max(0, at - 1)
    const [one, other] = this.#blocks.slice(first, first + 2)
    if (other && one.length + other.length <= MAX_BLOCK) this.#blocks.splice(first, 2, [...one, ...other])
    else if (this.#blocks[at].length === 0) this.#blocks.splice(at, 1)
  }

  /** Returns the index of the last block whose first entry is not after `entry`; 0 if there is none. */
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

/** Returns the index of the first entry in `block` that is not before `entry`. */
function placeIn(block: readonly LeaderboardEntry[], entry: LeaderboardEntry): number {
  let [low, high] = [0, block.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byRank(block[middle], entry) < 0) low = middle + 1
    else high = middle
  }
  return low
}
