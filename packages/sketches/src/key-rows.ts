import { scatterBits } from '@sluice/limiter-core/keyed-hash'
import type { SketchKey, SketchSeed } from './sketch-seed.ts'

/** Cells that double hashing may go through: more would need more than 32 bits a row. */
export const MAX_COLUMNS: number = 2 ** 24
export const MAX_ROWS = 32

/**
 * The cells of a key: one in each of `depth` rows of `width` cells.
 *
 * With up to 4 rows of a power of two of cells, up to 65,536, each row uses separate 16 bits of the hash. The hash is
 * pairwise independent (`@sluice/limiter-core/keyed-hash`), so two given keys collide in all rows with probability exactly
 * width^-depth: 2⁻⁵² for 4 × 8192. With other shapes row i is `scatterBits(low + i · high)`: double hashing (Kirsch and
 * Mitzenmacher 2006) with a finaliser, because without one two keys that collide in two neighbouring rows collide in
 * all.
 */
export class KeyRows {
  readonly width: number
  readonly depth: number
  readonly seed: SketchSeed
  /** Cells of the last key: their indexes over all rows. */
  readonly at: Int32Array
  /** Four rows that have 16 bits of the hash each: `low`, its upper half, `high`, its upper half. */
  readonly quarters: boolean
  readonly #mask: number
  readonly #own: boolean

  constructor(width: number, depth: number, seed: SketchSeed) {
    this.width = width
    this.depth = depth
    this.seed = seed
    this.at = new Int32Array(depth)
    const binary = (width & (width - 1)) === 0
    this.#mask = binary ? width - 1 : -1
    this.#own = binary && width <= 0x10000 && depth <= 4
    this.quarters = this.#own && depth === 4
  }

  /** Finds the cells of `key`: read `at` before the next call. */
  aim(key: SketchKey): void {
    const hash = this.seed.hashOf(key)
    this.aimAt(hash.low, hash.high)
  }

  /** Like `aim`, for a key whose hash is known. */
  aimAt(low: number, high: number): void {
    if (this.#own) this.#aimByPieces(low, high)
    else this.#aimByDoubleHashing(low, high)
  }

  #aimByPieces(low: number, high: number): void {
    const { at, depth, width } = this
    const mask = this.#mask
    at[0] = low & mask
    if (depth === 1) return
    at[1] = width + ((low >>> 16) & mask)
    if (depth === 2) return
    at[2] = 2 * width + (high & mask)
    if (depth === 3) return
    at[3] = 3 * width + ((high >>> 16) & mask)
  }

  #aimByDoubleHashing(low: number, high: number): void {
    const { at, depth, width } = this
    const mask = this.#mask
    // a row that adds 0 would be its neighbour again
    const step = high | 1
    let x = low
    for (let row = 0; row < depth; row++) {
      const mixed = scatterBits(x)
      const column = mask >= 0 ? mixed & mask : Math.floor(((mixed >>> 0) * width) / 0x1_0000_0000)
      at[row] = row * width + column
      x = (x + step) | 0
    }
  }
}
