import { BlockCover, type PastParts } from './block-cover.ts'
import { FULL_CELL } from './cell-sums.ts'
import type { TimeBlocks } from './time-blocks.ts'

/**
 * The division of the past at a later unit if nothing is counted until then: what `BlockCover` would return after
 * advancing, without changing anything. Blocks only merge as they age, so each later part consists of whole current
 * parts.
 */
export class LaterCover implements PastParts {
  readonly #now: BlockCover
  readonly #then: BlockCover
  /** The parts of now in each part of then: the first, and the one behind the last. */
  readonly #first: Int32Array
  readonly #behind: Int32Array
  /** The first one in the whole block of which it is the older half, or all. */
  readonly #newest: Int32Array
  #running = -1
  #unit = -1

  constructor(blocks: TimeBlocks, now: BlockCover) {
    this.#now = now
    this.#then = new BlockCover(blocks)
    this.#first = new Int32Array(this.from.length)
    this.#behind = new Int32Array(this.from.length)
    this.#newest = new Int32Array(this.from.length)
  }

  get parts(): number {
    return this.#then.parts
  }

  get from(): Float64Array {
    return this.#then.from
  }

  get to(): Float64Array {
    return this.#then.to
  }

  /** Cuts for `unit`, while `running` runs. */
  cut(running: number, unit: number): void {
    const now = this.#now
    const then = this.#then
    now.cut(running)
    if (running === this.#running && unit === this.#unit) return
    this.#running = running
    this.#unit = unit
    then.cut(unit)
    for (let later = 0, part = 0, newest = 0; later < then.parts; later++) {
      const end = then.from[later] + 2 ** then.level[later]
      while (newest < now.parts && now.to[newest] > end) newest++
      this.#newest[later] = newest
      this.#first[later] = part
      while (part < now.parts && now.from[part] >= then.from[later]) part++
      this.#behind[later] = part
    }
  }

  rowCount(part: number, cell: number): number {
    const count = this.#sum(this.#first[part], this.#behind[part], cell)
    const newer = this.#sum(this.#newest[part], this.#first[part], cell)
    // the merged block is full, and the counts of its halves are no longer known
    return count + newer >= FULL_CELL ? FULL_CELL : count
  }

  count(part: number, at: Int32Array): number {
    let least = this.rowCount(part, at[0])
    for (let row = 1; row < at.length; row++) least = Math.min(least, this.rowCount(part, at[row]))
    return least
  }

  #sum(first: number, behind: number, cell: number): number {
    let sum = 0
    for (let part = first; part < behind; part++) sum += this.#now.rowCount(part, cell)
    return sum
  }
}
