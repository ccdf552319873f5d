import type { Shard } from './shard.ts'

/** The shards of an arena by leading hash bits: an extendible directory, and a cursor that visits all in turn. */
export class ShardDirectory {
  #depth = 0
  #entries: Shard[]
  #cursor = 0

  constructor(shard: Shard) {
    this.#entries = [shard]
  }

  /** Returns the shard of a key. */
  of(high: number): Shard {
    // two shifts, because JavaScript treats a shift by 32 as a shift by 0
    return this.#entries[(high >>> 1) >>> (31 - this.#depth)]
  }

  /** Number of entries, which is at least the number of shards. */
  get size(): number {
    return this.#entries.length
  }

  /** The shard at the cursor. */
  get current(): Shard {
    return this.#entries[this.#cursor]
  }

  /** The shard that can be merged with the current one: its sibling of the last split, unless it was split again. */
  get buddy(): Shard | undefined {
    const span = this.#span(this.current)
    const buddy = this.#entries[this.#cursor ^ span]
    return span < this.size && buddy.depth === this.current.depth ? buddy : undefined
  }

  /** Moves the cursor to the next shard and returns that shard. */
  next(): Shard {
    this.#cursor = (this.#cursor + this.#span(this.current)) & (this.size - 1)
    return this.current
  }

  /** Assigns half of the entries of a shard to `sibling`. */
  split(shard: Shard, sibling: Shard): void {
    if (shard.depth === this.#depth) {
      this.#entries = this.#entries.flatMap((entry) => [entry, entry])
      this.#depth++
      this.#cursor *= 2
    }
    shard.depth++
    sibling.depth = shard.depth
    const span = this.#span(shard)
    const from = this.#entries.indexOf(shard) + span
    this.#entries.fill(sibling, from, from + span)
  }

  /** Assigns the entries of the current shard's buddy to the current shard. */
  merge(): void {
    const shard = this.current
    shard.depth--
    const span = this.#span(shard)
    this.#cursor &= ~(span - 1)
    this.#entries.fill(shard, this.#cursor, this.#cursor + span)
  }

  /** Returns the number of adjacent entries of a shard. */
  #span(shard: Shard): number {
    return 2 ** (this.#depth - shard.depth)
  }
}
