import { RANK_COUNT } from '../priority/levels.ts'

/** Numbers of recent requests by rank, of which older ones count less. */
export class RecentRequests {
  readonly byRank: Float64Array = new Float64Array(RANK_COUNT)
  #total = 0

  get total(): number {
    return this.#total
  }

  count(rank: number): void {
    this.byRank[rank] = (this.byRank[rank] as number) + 1
    this.#total++
  }

  /** Reduces all numbers to this part of them. */
  fade(remaining: number): void {
    for (let rank = 0; rank < RANK_COUNT; rank++) this.byRank[rank] = (this.byRank[rank] as number) * remaining
    this.#total *= remaining
  }

  clear(): void {
    this.byRank.fill(0)
    this.#total = 0
  }
}
