import { foreignSketch } from '../foreign-sketch.ts'
import type { Sketch } from '../sketch.ts'
import { checkOptions, SketchError, wholeAmount } from '../sketch-error.ts'
import { type SeedOption, type SketchSeed, seedOf } from '../sketch-seed.ts'
import { Decay } from './decay.ts'
import { DecayingRows } from './decaying-rows.ts'
import { type HeavyKeeperState, type HeavyKey, readHeavyKeeper, writeHeavyKeeper } from './heavy-keeper-bytes.ts'
import { type HeavyKeeperOptions, heavyKeeperShape } from './heavy-keeper-options.ts'
import { keptKey } from './kept-key.ts'
import { byUnits, RankedKeys } from './ranked-keys.ts'
import { sumOf } from './sum-of.ts'

/**
 * The most frequent keys, in a fixed table that small keys erode and large keys do not (HeavyKeeper: Gong et al.,
 * USENIX ATC 2018; RedisBloom's TOPK). A key has a bucket in each row where it can hold one, and the k keys with the
 * largest counts are reported. From the moment a key is reported, all of its units are counted.
 *
 * estimate <= true count
 *
 * except if two keys share a bucket and its 32-bit fingerprint, which happens to a given key among n with probability
 * at most depth · n / width · 2^-32. The error is not bounded; `SpaceSaving` bounds it.
 */
export class HeavyKeeper implements Sketch<HeavyKeeper> {
  readonly k: number
  readonly width: number
  readonly depth: number
  readonly decay: number
  readonly #seed: SketchSeed
  readonly #decay: Decay
  readonly #rows: DecayingRows
  readonly #ranked: RankedKeys
  #total = 0

  /** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_SEED`. */
  constructor(options: HeavyKeeperOptions) {
    const { k, width, depth, decay } = heavyKeeperShape(options)
    this.k = k
    this.width = width
    this.depth = depth
    this.decay = decay
    this.#seed = seedOf(options)
    this.#decay = new Decay(decay, firstState(this.#seed))
    this.#rows = new DecayingRows(width, depth, this.#seed, this.#decay)
    this.#ranked = new RankedKeys(k)
  }

  /**
   * Reads the result of `toBytes`, with the seed under which it was counted. Throws `SLUICE_BAD_BYTES` and
   * `SLUICE_SKETCH_MISMATCH`.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): HeavyKeeper {
    checkOptions('HeavyKeeper.fromBytes', options, ['seed'])
    const seed = seedOf(options)
    const state = readHeavyKeeper(bytes, seed)
    const { k, width, depth, decay } = state
    const sketch = new HeavyKeeper({ k, width, depth, decay, seed })
    sketch.#rows.fingerprints.set(state.fingerprints)
    sketch.#rows.counts.set(state.counts)
    sketch.#decay.state = state.drawn
    sketch.#load(state.total, state.counted)
    return sketch
  }

  /** All that was added. At most 2^53 - 1. */
  get total(): number {
    return this.#total
  }

  /**
   * Counts a key. Returns the key that it replaced among the k, as `top` shows it. `amount`: an integer; 0 changes
   * nothing. Throws `SLUICE_BAD_AMOUNT`, also if the total would exceed 2^53 - 1.
   */
  add(key: string, amount = 1): string | undefined {
    const total = sumOf(this.#total, amount)
    if (amount === 0) return undefined
    const kept = keptKey(key)
    const ranked = this.#ranked
    const inTable = this.#rows.add(kept, amount)
    const slot = ranked.slotOf(kept)
    this.#total = total
    if (slot === undefined) return this.#propose(kept, Math.max(inTable, amount))
    ranked.raise(slot, amount)
    return undefined
  }

  /** Returns the count of a key, or less; 0 if it is not known. */
  estimate(key: string): number {
    return this.#countOf(keptKey(key))
  }

  /**
   * Returns the `n` most frequent keys (default: all k) by descending count, then by key. Throws `SLUICE_BAD_AMOUNT`.
   */
  top(n: number = this.k): HeavyKey[] {
    return this.#counted().sort(byRank).slice(0, wholeAmount(n))
  }

  /**
   * Merges `other`. For a key that one side reports, the counts of both sides are added, and the k largest are
   * reported. For two buckets of one key the counts are added; for two keys the larger count stays. Neither exceeds
   * the true counts, so the results do not either. Throws `SLUICE_SKETCH_MISMATCH` if `other` has another k, shape,
   * decay or seed, and `SLUICE_BAD_AMOUNT` if the totals together would exceed 2^53 - 1.
   */
  merge(other: HeavyKeeper): void {
    const theirs = this.#sameAs(other)
    const total = sumOf(this.#total, theirs.#total)
    const joined = this.#counted().map(({ key, count }) => ({ key, count: count + theirs.#countOf(key) }))
    for (const { key, count } of theirs.#counted()) {
      if (this.#ranked.slotOf(key) === undefined) joined.push({ key, count: count + this.#countOf(key) })
    }
    this.#rows.merge(theirs.#rows)
    // the least first, as in a heap
    this.#load(total, joined.sort(byRank).slice(0, this.k).reverse())
  }

  clear(): void {
    this.#rows.clear()
    this.#decay.state = firstState(this.#seed)
    this.#load(0, [])
  }

  toBytes(): Uint8Array {
    const { k, width, depth, decay } = this
    const { fingerprints, counts } = this.#rows
    const counted = this.#counted()
    const state = {
      k,
      width,
      depth,
      decay,
      drawn: this.#decay.state,
      total: this.#total,
      fingerprints,
      counts,
      counted,
    }
    return writeHeavyKeeper(state, this.#seed)
  }

  #propose(kept: string, count: number): string | undefined {
    const ranked = this.#ranked
    if (!ranked.full) {
      ranked.insert(kept, count)
      return undefined
    }
    if (count <= ranked.least) return undefined
    const expelled = ranked.keys[ranked.slotAt(0)]
    ranked.replaceLeast(kept, count)
    return expelled
  }

  #countOf(kept: string): number {
    const slot = this.#ranked.slotOf(kept)
    return slot === undefined ? this.#rows.estimate(kept) : this.#ranked.counts[slot]
  }

  /** In heap order. */
  #counted(): HeavyKey[] {
    const { counts, keys } = this.#ranked
    return keys.map((_, position) => {
      const slot = this.#ranked.slotAt(position)
      return { key: keys[slot], count: counts[slot] }
    })
  }

  #load(total: number, counted: HeavyKeeperState['counted']): void {
    this.#ranked.clear()
    for (const { key, count } of counted) this.#ranked.insert(key, count)
    this.#total = total
  }

  #sameAs(other: HeavyKeeper): HeavyKeeper {
    const seed = this.#seed
    const read = #rows in Object(other) ? other : foreignSketch(HeavyKeeper, other, { seed })
    if (!seed.same(read.#seed)) throw mismatch('seed')
    for (const part of ['k', 'width', 'depth', 'decay'] as const) if (this[part] !== read[part]) throw mismatch(part)
    return read
  }
}

/** Initial state of the generator: as secret as the seed. */
function firstState(seed: SketchSeed): number {
  return seed.hashOf('@sluice/sketches heavyKeeper').low >>> 0
}

function mismatch(part: string): SketchError {
  return new SketchError('SLUICE_SKETCH_MISMATCH', `the other heavyKeeper has another ${part}`)
}

function byRank(a: HeavyKey, b: HeavyKey): number {
  return b.count - a.count || byUnits(a.key, b.key)
}
