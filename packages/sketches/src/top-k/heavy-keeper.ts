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
 * Who came most, by a fixed table that small keys wear away and large ones do not (HeavyKeeper: Gong et al., USENIX ATC
 * 2018; RedisBloom's TOPK). A key has a bucket in each row where it can keep one, and the k with the largest counts are
 * shown. From the moment on that a key is shown all that comes of it is counted.
 *
 *     estimate <= what came of it
 *
 * but where two keys share a bucket and its fingerprint of 32 bits: n keys make that happen to a given one with chance
 * depth · n / width · 2^-32 at most. Nothing bounds how much is missing; `SpaceSaving` bounds it.
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

  /** What `toBytes` wrote, with the seed that it was counted under. Throws `SLUICE_BAD_BYTES`, `SLUICE_SKETCH_MISMATCH`. */
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
   * Answers the key that had to make way for this one among the k, as `top` shows it. `amount`: whole, from 0, which
   * changes nothing. Throws `SLUICE_BAD_AMOUNT`, also where all together would pass 2^53 - 1.
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

  /** What came of it, or less; 0 where it is not known. */
  estimate(key: string): number {
    return this.#countOf(keptKey(key))
  }

  /** The `n` that came most, default all k, in falling order of their counts; equal ones by key. Throws `SLUICE_BAD_AMOUNT`. */
  top(n: number = this.k): HeavyKey[] {
    return this.#counted().sort(byRank).slice(0, wholeAmount(n))
  }

  /**
   * Of a key that one side shows, what both sides know of it is added up, and the k largest are shown. Of two buckets of
   * one key the counts are added up; of two keys the larger count stays, as it is: both are no more than what came, so
   * the sums are none either. Throws `SLUICE_SKETCH_MISMATCH` where `other` has another k, shape, decay or seed, and
   * `SLUICE_BAD_AMOUNT` where the totals together would pass 2^53 - 1.
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

  /** In the order of the heap. */
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

/** Where the generator starts: as secret as the seed. */
function firstState(seed: SketchSeed): number {
  return seed.hashOf('@sluice/sketches heavyKeeper').low >>> 0
}

function mismatch(part: string): SketchError {
  return new SketchError('SLUICE_SKETCH_MISMATCH', `the other heavyKeeper has another ${part}`)
}

function byRank(a: HeavyKey, b: HeavyKey): number {
  return b.count - a.count || byUnits(a.key, b.key)
}
