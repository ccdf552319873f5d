import { BadSeedError } from './bad-seed-error.ts'
import { BlockHash } from './block-hash.ts'
import type { KeyedHash } from './contract.ts'
import { randomBytes } from './crypto/node-crypto.ts'
import { DigestTree } from './digest-tree.ts'
import { type KeyWords, keyWords, UNITS_A_BLOCK } from './key-words.ts'
import { LateHash } from './late-hash.ts'

const SEED_BYTES = 16
const RANDOM_BYTES = 32
const PACKED_BLOCK = 2 * UNITS_A_BLOCK

/**
 * Creates a hash. Equal seeds give equal hashes in every process and release, which merging sketches requires.
 *
 * @param seed At least 16 secret bytes, otherwise `SLUICE_BAD_SEED` is thrown. Default: 32 random bytes, so that no
 * other process can compute the hash of a key. Where there are no random bytes yet, in the global scope of a Cloudflare
 * Worker, they are drawn at the first use.
 */
export function createKeyedHash(seed?: Uint8Array): KeyedHash {
  if (seed === undefined) return randomHash()
  if (!ArrayBuffer.isView(seed)) throw new BadSeedError(seed === null ? 'null' : `a ${typeof seed}`)
  if (seed.byteLength < SEED_BYTES) throw new BadSeedError(`${seed.byteLength} bytes`)
  return new MultiplyShiftHash(keyWords(seed))
}

function randomHash(): KeyedHash {
  const create = (): KeyedHash => new MultiplyShiftHash(keyWords(randomBytes(RANDOM_BYTES)))
  try {
    return create()
  } catch {
    return new LateHash(create)
  }
}

/**
 * Vector multiply-shift (Dietzfelbinger 1996; Thorup, arXiv:1504.06804) over 16-bit units mod 2³²: the high 16 bits of
 * a sum are strongly universal. The four sums share their words, each shifted by one place: at the last unit in which
 * two keys differ, each sum uses a word that the previous sums do not, so the four sums give 64 independent bits.
 *
 * Guarantee, over the random choice of the seed, for any two keys chosen without seeing results: up to 512 latin1
 * characters (256 of any kind), the hashes are uniform and independent. They agree in n given bits with probability
 * exactly 2⁻ⁿ, and in all 64 bits with probability 2⁻⁶⁴. Longer keys add 2⁻⁶⁴ for each level of the digest tree: at
 * most 5 · 2⁻⁶⁴.
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
