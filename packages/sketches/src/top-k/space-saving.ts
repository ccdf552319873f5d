import { foreignSketch } from '../foreign-sketch.ts'
import type { Sketch } from '../sketch.ts'
import { checkOptions, SketchError, wholeAmount, wholeOption } from '../sketch-error.ts'
import { keptKey } from './kept-key.ts'
import { byUnits, MAX_KEYS, RankedKeys } from './ranked-keys.ts'
import { type Counted, readSpaceSaving, type SpaceSavingState, writeSpaceSaving } from './space-saving-bytes.ts'
import { sumOf } from './sum-of.ts'

export interface SpaceSavingOptions {
  /**
   * Number of keys that are counted at a time, k: from 1 to 2^20. The error of a count is at most 1/k of the stream.
   */
  readonly capacity: number
}

/** One of the most frequent keys. */
export interface CountedKey {
  /** A key of more than 256 characters is shown as its first 256, '…' and a digest. */
  readonly key: string
  /** Count of the key, or more: too high by at most `error`. */
  readonly count: number
  /** 0 where the count is exact. */
  readonly error: number
  /**
   * Whether the key is certainly among the requested n: its count is at least as large as that of any other key can
   * be.
   */
  readonly guaranteed: boolean
}

/**
 * The most frequent keys in k counters (Metwally, Agrawal and El Abbadi 2005). A key that is not among the k replaces
 * the smallest one and inherits its count as its error. For a stream of N units, for every key:
 *
 * count - error <= true count <= count error <= N/k above N/k it is among the k
 *
 * This holds for every stream, including adversarial ones, and nothing is hashed, so there is no seed. `add` is O(log
 * k) for any amount, and allocates nothing for a key that is among the k.
 */
export class SpaceSaving implements Sketch<SpaceSaving> {
  readonly capacity: number
  readonly #ranked: RankedKeys
  /** By slot: how much of its count may belong to other keys. */
  #errors: number[] = []
  #total = 0
  #floor = 0

  /** Throws `SLUICE_BAD_OPTION`. */
  constructor(options: SpaceSavingOptions) {
    checkOptions('SpaceSaving', options, ['capacity'])
    this.capacity = wholeOption('capacity', options.capacity, 1, MAX_KEYS)
    this.#ranked = new RankedKeys(this.capacity)
  }

  /** Reads the result of `toBytes`. Throws `SLUICE_BAD_BYTES`. */
  static fromBytes(bytes: Uint8Array): SpaceSaving {
    const state = readSpaceSaving(bytes)
    const sketch = new SpaceSaving({ capacity: state.capacity })
    sketch.#load(state)
    return sketch
  }

  /** N: all that was added. At most 2^53 - 1. */
  get total(): number {
    return this.#total
  }

  /** The most that may have come of a key that is not among the k: N/k at most, and 0 until the first had to go. */
  get floor(): number {
    return this.#floor
  }

  /**
   * `amount`: whole, from 0, which changes nothing. Throws `SLUICE_BAD_AMOUNT`, also where all together would pass
   * 2^53 - 1.
   */
  add(key: string, amount = 1): void {
    const total = sumOf(this.#total, amount)
    if (amount === 0) return
    const kept = keptKey(key)
    const ranked = this.#ranked
    const slot = ranked.slotOf(kept)
    this.#total = total
    if (slot !== undefined) ranked.raise(slot, amount)
    else if (ranked.full) this.#succeed(kept, amount)
    else this.#errors[ranked.insert(kept, amount)] = 0
  }

  /** Returns at least the count of a key, too high by at most `error(key)`; `floor` if it is not among the k. */
  estimate(key: string): number {
    return this.#countOf(keptKey(key))
  }

  /** Returns by how much `estimate(key)` may be too high; `floor` if it is not among the k. */
  error(key: string): number {
    return this.#errorOf(keptKey(key))
  }

  /**
   * Returns the `n` most frequent keys (default: all k) by descending count, then by error, then by key. Throws
   * `SLUICE_BAD_AMOUNT`.
   */
  top(n: number = this.capacity): CountedKey[] {
    const wanted = wholeAmount(n)
    const sorted = this.#counted().sort(byRank)
    const others = wanted < sorted.length ? sorted[wanted].count : this.#floor
    return sorted.slice(0, wanted).map((one) => ({ ...one, guaranteed: one.count - one.error >= others }))
  }

  /**
   * Merges `other`. Counts of a key are added. A key that is not among the k of one side may have had `floor` units
   * there, which is added to its count and its error. The k largest stay. All bounds hold for both streams together,
   * including N/k of their sum, in any order and number of merges (Agarwal et al. 2012); only the choice among nearly
   * equal keys depends on the order. Throws `SLUICE_SKETCH_MISMATCH` if `other` has another capacity, and
   * `SLUICE_BAD_AMOUNT` if the totals together would exceed 2^53 - 1.
   */
  merge(other: SpaceSaving): void {
    const theirs = #ranked in Object(other) ? other : foreignSketch(SpaceSaving, other)
    const { capacity } = this
    if (theirs.capacity !== capacity) {
      throw new SketchError('SLUICE_SKETCH_MISMATCH', 'the other spaceSaving has another capacity')
    }
    const total = sumOf(this.#total, theirs.#total)
    const joined = this.#joinedWith(theirs).sort(byRank)
    const floor = joined.length > capacity ? joined[capacity].count : this.#floor + theirs.#floor
    // the least first, as in a heap
    this.#load({ capacity, total, floor, counted: joined.slice(0, capacity).reverse() })
  }

  clear(): void {
    this.#load({ capacity: this.capacity, total: 0, floor: 0, counted: [] })
  }

  toBytes(): Uint8Array {
    return writeSpaceSaving({
      capacity: this.capacity,
      total: this.#total,
      floor: this.#floor,
      counted: this.#counted(),
    })
  }

  #succeed(kept: string, amount: number): void {
    const { least } = this.#ranked
    this.#errors[this.#ranked.replaceLeast(kept, least + amount)] = least
    this.#floor = least
  }

  #countOf(kept: string): number {
    const slot = this.#ranked.slotOf(kept)
    return slot === undefined ? this.#floor : this.#ranked.counts[slot]
  }

  #errorOf(kept: string): number {
    const slot = this.#ranked.slotOf(kept)
    return slot === undefined ? this.#floor : this.#errors[slot]
  }

  /** In heap order. */
  #counted(): Counted[] {
    const { counts, keys } = this.#ranked
    return keys.map((_, position) => {
      const slot = this.#ranked.slotAt(position)
      return { key: keys[slot], count: counts[slot], error: this.#errors[slot] }
    })
  }

  #joinedWith(other: SpaceSaving): Counted[] {
    const joined: Counted[] = []
    for (const { key, count, error } of this.#counted()) {
      joined.push({ key, count: count + other.#countOf(key), error: error + other.#errorOf(key) })
    }
    for (const { key, count, error } of other.#counted()) {
      if (this.#ranked.slotOf(key) === undefined)
        joined.push({ key, count: count + this.#floor, error: error + this.#floor })
    }
    return joined
  }

  #load({ total, floor, counted }: SpaceSavingState): void {
    this.#ranked.clear()
    this.#errors = []
    for (const { key, count, error } of counted) this.#errors[this.#ranked.insert(key, count)] = error
    this.#total = total
    this.#floor = floor
  }
}

function byRank(a: Counted, b: Counted): number {
  return b.count - a.count || a.error - b.error || byUnits(a.key, b.key)
}
