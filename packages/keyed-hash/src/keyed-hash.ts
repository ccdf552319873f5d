import { randomBytes } from 'node:crypto'
import { BadSeedError } from './bad-seed-error.ts'
import { BlockHash } from './block-hash.ts'
import { DigestTree } from './digest-tree.ts'
import { type KeyWords, keyWords, UNITS_A_BLOCK } from './key-words.ts'

/** A hash of 64 bits, drawn by its seed. One object holds one result: read it before the next call. */
export interface KeyedHash {
  /** Of the last call: 32 bits as int32, so that they stay a small integer. Uniform, and independent of `high`. */
  low: number
  high: number
  /** Any string: lone surrogates, NUL and `__proto__` are keys like others. Allocates nothing up to 256 characters. */
  text(key: string): void
  /** Equals `text` of the string whose code units are these bytes (latin1). */
  bytes(key: Uint8Array): void
  /** A safe integer; what is none has the hash of another one. No text and no bytes share its units: 7 is not `'7'`. */
  integer(key: number): void
}

const SEED_BYTES = 16
const PACKED_BLOCK = 2 * UNITS_A_BLOCK

/**
 * Equal seeds give equal hashes in every process and release, so whoever merges sketches hands one in, 16 secret bytes
 * or more. Without one it is drawn at random, and no other process can say what a key hashes to.
 */
export function createKeyedHash(seed: Uint8Array = randomBytes(32)): KeyedHash {
  if (!ArrayBuffer.isView(seed)) throw new BadSeedError(seed === null ? 'null' : `a ${typeof seed}`)
  if (seed.byteLength < SEED_BYTES) throw new BadSeedError(`${seed.byteLength} bytes`)
  return new MultiplyShiftHash(keyWords(seed))
}

/**
 * Vector multiply-shift (Dietzfelbinger 1996; Thorup, arXiv:1504.06804) over 16-bit units mod 2³²: the high 16 bits of
 * a sum are strongly universal. The sums share their words, each one place further: at the last unit that differs a
 * sum has a word that the sums before it lack, so four sums make 64 such bits.
 * The promise, over the draw of the seed, for any two keys chosen without sight of results: up to 512 latin1 characters
 * (256 of any kind) their hashes are uniform and independent, so they agree in n given bits with chance 2⁻ⁿ exactly and
 * in all 64 with 2⁻⁶⁴. A longer key adds 2⁻⁶⁴ for each level of its digest tree: 5 · 2⁻⁶⁴ at most.
 */
class MultiplyShiftHash extends BlockHash implements KeyedHash {
  readonly #tree: DigestTree

  constructor(words: KeyWords) {
    super(words)
    this.#tree = new DigestTree(words)
  }

  text(key: string): void {
    const packed = key.length <= PACKED_BLOCK ? this.packedBlock(key) : this.#packedBlocks(key)
    if (packed) return
    if (key.length <= UNITS_A_BLOCK) this.wideBlock(key)
    else this.#wideBlocks(key)
  }

  bytes(key: Uint8Array): void {
    if (key.length <= PACKED_BLOCK) this.byteBlock(key)
    else this.#byteBlocks(key)
  }

  #packedBlocks(key: string): boolean {
    const tree = this.#tree
    tree.clear()
    for (let from = 0; from < key.length; from += PACKED_BLOCK) {
      if (!this.packedBlock(key.slice(from, from + PACKED_BLOCK))) return false
      tree.push(this.low, this.high)
    }
    tree.finish(2 * key.length, this)
    return true
  }

  #wideBlocks(key: string): void {
    const tree = this.#tree
    tree.clear()
    for (let from = 0; from < key.length; from += UNITS_A_BLOCK) {
      this.wideBlock(key.slice(from, from + UNITS_A_BLOCK))
      tree.push(this.low, this.high)
    }
    tree.finish(2 * key.length + 1, this)
  }

  #byteBlocks(key: Uint8Array): void {
    const tree = this.#tree
    tree.clear()
    for (let from = 0; from < key.length; from += PACKED_BLOCK) {
      this.byteBlock(key.subarray(from, from + PACKED_BLOCK))
      tree.push(this.low, this.high)
    }
    tree.finish(2 * key.length, this)
  }
}
