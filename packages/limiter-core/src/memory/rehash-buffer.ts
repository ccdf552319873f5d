import { type PageLayout, TAG } from './page-layout.ts'
import type { Shard, SlotRef } from './shard.ts'

/** Holds keys while they move between shards. All arenas share one buffer, because only one arena moves at a time. */
export class RehashBuffer {
  count = 0
  readonly #keptBytes: number
  #words = new Int32Array(0)
  #cells = new Float64Array(0)

  /** `keptBytes`: largest size that stays allocated between moves. */
  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes
  }

  /** Packs the live keys of shards, overwriting the previous content. */
  pack(shards: readonly Shard[], { slots, cells }: PageLayout, tick: number, place: SlotRef): void {
    let room = 0
    for (const { pages } of shards) room += pages * slots
    if (this.#words.length < room * 3) this.#words = new Int32Array(room * 3)
    if (this.#cells.length < room * cells) this.#cells = new Float64Array(room * cells)
    let key = 0
    const packOne = (): void => {
      this.#words[3 * key] = place.words[place.word]
      this.#words[3 * key + 1] = place.words[place.word + TAG]
      this.#words[3 * key + 2] = place.words[place.expiry]
      for (let cell = 0; cell < cells; cell++) this.#cells[key * cells + cell] = place.cells[place.at + cell]
      key++
    }
    for (const shard of shards) shard.each(tick, place, packOne)
    this.count = key
  }

  low(key: number): number {
    return this.#words[3 * key]
  }

  tag(key: number): number {
    return this.#words[3 * key + 1]
  }

  /** Writes a packed key to its new slot. */
  unpack(key: number, { cells }: PageLayout, place: SlotRef): void {
    place.words[place.word + TAG] = this.#words[3 * key + 1]
    place.words[place.expiry] = this.#words[3 * key + 2]
    for (let cell = 0; cell < cells; cell++) place.cells[place.at + cell] = this.#cells[key * cells + cell]
  }

  /** Empties the buffer after all keys have been placed, and frees it if it is too large. */
  clear(): void {
    this.count = 0
    if (this.#words.byteLength + this.#cells.byteLength <= this.#keptBytes) return
    this.#words = new Int32Array(0)
    this.#cells = new Float64Array(0)
  }
}
