import type { Shard } from './shard.ts'

/**
 * The shards of an arena by leading hash bits: an extendible directory with a cursor that visits all shards in turn.
 */
export class ShardDirectory {
  #depth = 0
  #entries: Shard[]
  #turn = 0

  constructor(shard: Shard) {
    this.#entries = [shard]
  }

  /** The shard of a key. */
  of(high: number): Shard {
    // a shift by 32 is a shift by 0, hence two
    return this.#entries[(high >>> 1) >>> (31 - this.#depth)]
  }

  /** At least the number of shards. */
  get size(): number {
    return this.#entries.length
  }

  /** The shard at the cursor. */
  get current(): Shard {
    return this.#entries[this.#turn]
  }

  /** The shard that was last split from the current one; undefined if either was split again, or none was. */
  get buddy(): Shard | undefined {
    const span = this.#span(this.current)
    const buddy = this.#entries[this.#turn ^ span]
    return span < this.size && buddy.depth === this.current.depth ? buddy : undefined
  }

  next(): Shard {
    this.#turn = (this.#turn + this.#span(this.current)) & (this.size - 1)
    return this.current
  }

  /** Gives half of the entries of a shard to `sibling`. */
  split(shard: Shard, sibling: Shard): void {
    if (shard.depth === this.#depth) {
      this.#entries = this.#entries.flatMap((entry) => [entry, entry])
      this.#depth++
      this.#turn *= 2
    }
    shard.depth++
    sibling.depth = shard.depth
    const span = this.#span(shard)
    const from = this.#entries.indexOf(shard) + span
    this.#entries.fill(sibling, from, from + span)
  }

  /** Gives all that the buddy of the current shard has to the current one. */
  merge(): void {
    const shard = this.current
    shard.depth--
    const span = this.#span(shard)
    this.#turn &= ~(span - 1)
    this.#entries.fill(shard, this.#turn, this.#turn + span)
  }

  /** Returns the number of adjacent entries of a shard. */
  #span(shard: Shard): number {
    return 2 ** (this.#depth - shard.depth)
  }
}
