import { TextEncoder } from 'node:util'
import { type Cells, cellsIn, FULL } from './cells.ts'
import { LinearCells } from './count-min/count-min-cells.ts'
import { checkTotal, heldTotal, TOTAL } from './count-min/count-min-shape.ts'
import { foreignSketch } from './foreign-sketch.ts'
import { MAX_COLUMNS, MAX_ROWS } from './key-rows.ts'
import { keyBytes, keyText } from './key-text.ts'
import { murmurHash2 } from './murmur-hash-2.ts'
import type { Sketch } from './sketch.ts'
import { HEADER_BYTES, SketchBuffer } from './sketch-buffer.ts'
import { checkOptions, described, fractionOption, SketchError, wholeAmount, wholeOption } from './sketch-error.ts'
import type { SketchKey } from './sketch-seed.ts'

export interface RedisBloomCountMinOptions {
  /** Cells of a row, 1 to 2²⁴. */
  readonly width: number
  /** Rows, 1 to 32. */
  readonly depth: number
}

const BITS = 32
/** Largest weight of a merge, positive or negative: larger products would not be exact. */
const MAX_WEIGHT = 2 ** 20

/** Strings up to this length are hashed without allocating memory, whatever characters they contain. */
const KEPT_CHARACTERS = 1_365
const encoder = new TextEncoder()
const encoded = new Uint8Array(3 * KEPT_CHARACTERS)

/**
 * The count-min sketch of RedisBloom, identical to the cell: row i is MurmurHash2 of the key's UTF-8 bytes with seed
 * i, modulo the width; cells are uint32 that stop at 2³² - 1. `7` is the key `'7'`, as in Redis. It has no secret
 * seed: keys can be forged that are counted as another one. Use `CountMin` for keys of untrusted clients.
 */
export class RedisBloomCountMin implements Sketch<RedisBloomCountMin> {
  readonly #buffer: SketchBuffer
  readonly #cells: LinearCells
  /** Cells of the last key. */
  readonly #at: Int32Array

  /** Like `CMS.INITBYDIM`. Throws `SLUICE_BAD_OPTION`. `kept` is a buffer found by `fromBytes`. */
  constructor(options: RedisBloomCountMinOptions, kept?: SketchBuffer) {
    checkOptions('RedisBloomCountMin', options, ['width', 'depth'])
    const width = wholeOption('width', options.width, 1, MAX_COLUMNS)
    const depth = wholeOption('depth', options.depth, 1, MAX_ROWS)
    this.#buffer = kept ?? SketchBuffer.create('redisBloomCountMin', 4 * width * depth, { shape: [width, depth] })
    this.#cells = new LinearCells(cellsIn(this.#buffer.buffer, HEADER_BYTES, width * depth, BITS))
    this.#at = new Int32Array(depth)
  }

  /** Like `CMS.INITBYPROB`: ⌈2 / error⌉ columns and ⌈log₂ 1/probability⌉ rows, 2000 x 7 for 0.001 and 0.01. */
  static fromError(error: number, probability: number): RedisBloomCountMin {
    return new RedisBloomCountMin({
      width: Math.ceil(2 / fractionOption('error', error)),
      depth: Math.ceil(-Math.log2(fractionOption('probability', probability))),
    })
  }

  /** Reads the result of `toBytes`. Throws `SLUICE_BAD_BYTES`. */
  static fromBytes(bytes: Uint8Array): RedisBloomCountMin {
    const kept = SketchBuffer.read('redisBloomCountMin', bytes, keptBytes)
    checkTotal(kept)
    return new RedisBloomCountMin({ width: kept.shape(0), depth: kept.shape(1) }, kept)
  }

  get width(): number {
    return this.#buffer.shape(0)
  }

  get depth(): number {
    return this.#buffer.shape(1)
  }

  /** The `count` of `CMS.INFO`. */
  get total(): number {
    return this.#buffer.float(TOTAL)
  }

  /** Like `CMS.INCRBY`: adds `amount` and returns the new estimate. Throws `SLUICE_BAD_AMOUNT`. */
  add(key: SketchKey, amount = 1): number {
    wholeAmount(amount)
    this.#aim(key)
    this.#buffer.setFloat(TOTAL, this.total + amount)
    return this.#cells.add(this.#at, amount)
  }

  /** Like `CMS.QUERY`: returns at least how often `key` was counted; 2³² - 1 means that or more. */
  estimate(key: SketchKey): number {
    this.#aim(key)
    return this.#cells.estimate(this.#at)
  }

  /** Adds the counts of `other` times `weight`, an integer. Throws like `mergeAll`. */
  merge(other: RedisBloomCountMin, weight = 1): void {
    this.mergeAll([this, other], [1, weight])
  }

  /**
   * Like `CMS.MERGE`: becomes the sum of `sources`, each times its integer weight (default 1). Its previous counts
   * are lost unless it is one of the sources. Throws `SLUICE_SKETCH_MISMATCH`, `SLUICE_BAD_AMOUNT`, and
   * `SLUICE_SKETCH_UNSUPPORTED` if a cell would fall below 0 or exceed 2³² - 1; then nothing changes.
   */
  mergeAll(sources: readonly RedisBloomCountMin[], weights?: readonly number[]): void {
    if (!Array.isArray(sources)) throw noSources(sources)
    // spread, so that array holes are detected too
    const same = [...sources].map((source) => this.#same(source))
    const times = weights ?? same.map(() => 1)
    checkWeights(times, same.length)
    const cells = same.map((source) => source.#cells.cells)
    const sums = sumsOf(cells, times, this.#cells.cells.length)
    const total = same.reduce((sum, source, n) => sum + times[n] * source.total, 0)
    if (sums === undefined || !(total >= 0)) {
      throw new SketchError('SLUICE_SKETCH_UNSUPPORTED', 'a cell of the sum would fall below 0 or rise above 2^32 - 1')
    }
    this.#cells.cells.set(sums)
    this.#buffer.setFloat(TOTAL, heldTotal(total))
  }

  clear(): void {
    this.#buffer.clear()
  }

  toBytes(): Uint8Array {
    return this.#buffer.toBytes()
  }

  #same(other: RedisBloomCountMin): RedisBloomCountMin {
    const same = #buffer in Object(other) ? other : foreignSketch(RedisBloomCountMin, other)
    this.#buffer.checkMatch(same.#buffer)
    return same
  }

  #aim(key: SketchKey): void {
    if (typeof key === 'string') this.#aimText(key)
    else if (ArrayBuffer.isView(key)) this.#aimBytes(keyBytes(key))
    else this.#aimText(keyText(key))
  }

  #aimBytes(key: Uint8Array): void {
    this.#aimAt(key, key.length)
  }

  #aimText(text: string): void {
    const long = text.length > KEPT_CHARACTERS
    const bytes = long ? encoder.encode(text) : encoded
    this.#aimAt(bytes, long ? bytes.length : writtenLength(text))
  }

  #aimAt(bytes: Uint8Array, length: number): void {
    const width = this.#buffer.shape(0)
    const at = this.#at
    for (let row = 0; row < at.length; row++) at[row] = row * width + (murmurHash2(bytes, length, row) % width)
  }
}

/** Writes a string into `encoded`. Most keys are ASCII, for which a loop is faster. */
function writtenLength(text: string): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) return encoder.encodeInto(text, encoded).written
    encoded[i] = code
  }
  return text.length
}

function keptBytes([width, depth, ...rest]: readonly number[]): number | undefined {
  if (width < 1 || width > MAX_COLUMNS || depth < 1 || depth > MAX_ROWS) return undefined
  return rest.some((word) => word !== 0) ? undefined : 4 * width * depth
}

function noSources(got: unknown): SketchError {
  return new SketchError(
    'SLUICE_SKETCH_MISMATCH',
    `sources: expected an array of RedisBloomCountMin, received ${described(got)}`,
  )
}

function isWeight(weight: number): boolean {
  return Number.isInteger(weight) && Math.abs(weight) <= MAX_WEIGHT
}

function checkWeights(weights: readonly number[], count: number): void {
  const wrong = Array.isArray(weights) ? weights.findIndex((weight) => !isWeight(weight)) : -1
  if (wrong < 0 && weights?.length === count) return
  throw new SketchError(
    'SLUICE_BAD_AMOUNT',
    `weights: expected ${count} integers within ±2^20, received ${described(wrong < 0 ? weights?.length : weights[wrong])}`,
  )
}

/** Returns undefined if a sum is not a uint32. */
function sumsOf(sources: readonly Cells[], weights: readonly number[], count: number): Cells | undefined {
  const sums = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    let sum = 0
    for (let n = 0; n < sources.length; n++) sum += weights[n] * sources[n][i]
    if (sum < 0 || sum > FULL[BITS]) return undefined
    sums[i] = sum
  }
  return sums
}
