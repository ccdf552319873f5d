import { createHash, randomBytes } from 'node:crypto'
import { createKeyedHash, type KeyedHash } from '@sluice/limiter-core/keyed-hash'
import { keyBytes, keyText } from './key-text.ts'
import { describedKind, SketchError } from './sketch-error.ts'

/**
 * The key that is counted. `7` and `'7'` are different keys; bytes are the same key as the latin1 string of these
 * bytes. A number that is not a safe integer, and any other value, is counted as its string.
 */
export type SketchKey = string | number | Uint8Array

/** Source of the hash of a sketch. With a known seed, keys can be forged that are counted as another key. */
export interface SeedOption {
  /**
   * At least 16 secret bytes, equal in all processes whose sketches are merged, or a `SketchSeed` created from them.
   * Default: a random seed of this process, so that the cells of a key cannot be predicted; its sketches can be
   * merged only with each other.
   */
  readonly seed?: SketchSeed | Uint8Array | string | undefined
}

/** A seed with its hash. One that is shared by many sketches spares each of them 5 KB and 20 µs. */
export class SketchSeed {
  /** Identifies a seed without revealing it: 8 bytes of a one-way digest, as two uint32. */
  readonly idLow: number
  readonly idHigh: number
  readonly #hash: KeyedHash

  /** `seed`: at least 16 bytes, or a string as UTF-8. Default: random. Throws `SLUICE_BAD_SEED`. */
  constructor(seed: Uint8Array | string = randomBytes(32)) {
    const bytes = typeof seed === 'string' ? Buffer.from(seed) : seed
    this.#hash = createKeyedHash(bytes)
    const id = createHash('sha256').update('@sluice/sketches seed\0').update(bytes).digest()
    this.idLow = id.readUInt32LE(0)
    this.idHigh = id.readUInt32LE(4)
  }

  /** Hashes `key`. The result is in `low` and `high` of the returned object, until the next call on this seed. */
  hashOf(key: SketchKey): KeyedHash {
    const hash = this.#hash
    if (typeof key === 'string') hash.text(key)
    else if (Number.isSafeInteger(key)) hash.integer(key as number)
    else hashRare(hash, key)
    return hash
  }

  same(other: SketchSeed): boolean {
    return this.idLow === other.idLow && this.idHigh === other.idHigh
  }
}

// separate, so that the path of most keys is small enough to be inlined
function hashRare(hash: KeyedHash, key: SketchKey): void {
  if (ArrayBuffer.isView(key)) hash.bytes(keyBytes(key))
  else hash.text(keyText(key))
}

// of the process and not of this module: its ESM and its CommonJS copy shall be able to merge
const OF_PROCESS = Symbol.for('@sluice/sketches seed')

/** Returns the seed of an option, or the seed of this process. Throws `SLUICE_BAD_SEED`. */
export function seedOf({ seed }: SeedOption): SketchSeed {
  if (seed === undefined) return processSeed()
  if (typeof seed === 'string' || ArrayBuffer.isView(seed)) return new SketchSeed(seed)
  // one of another copy of this package is as good
  if (typeof seed?.hashOf === 'function' && Number.isInteger(seed.idLow) && Number.isInteger(seed.idHigh)) return seed
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `seed: expected bytes, a string or a SketchSeed, received ${describedKind(seed)}`,
  )
}

function processSeed(): SketchSeed {
  const shared = globalThis as { [OF_PROCESS]?: SketchSeed }
  shared[OF_PROCESS] ??= new SketchSeed()
  return shared[OF_PROCESS]
}
