import { createCipheriv, createHash } from 'node:crypto'

/** What the seed draws: 5 KB of words, each random and independent of the others. */
export interface KeyWords {
  /** A constant a sum. */
  readonly start: Int32Array
  /** For the units of a block. */
  readonly block: Int32Array
  /** For the digests of each level of a tree. */
  readonly levels: readonly Int32Array[]
  /** For the shape of a key of many blocks: the low 16 bits, then the rest. */
  readonly shape: Int32Array
}

/** 512 latin1 characters, so that nearly every key is one block. */
export const UNITS_A_BLOCK = 256

/** A digest is four units, so a level holds 64 digests of the one below: four hold 64⁴ blocks, 8 GiB of bytes. */
export const LEVELS = 4

/** Sum j multiplies unit i by word i + j, so the last unit needs three words more. */
const WORDS_A_LEVEL = UNITS_A_BLOCK + 3

/** A later format takes another name, and with it other words from the same seed. */
const FORMAT = '@sluice/keyed-hash 1\0'

export function keyWords(seed: Uint8Array): KeyWords {
  const drawn = keystream(seed, 4 + (1 + WORDS_A_LEVEL) + 8 + LEVELS * WORDS_A_LEVEL)
  let at = 0
  const next = (count: number) => {
    at += count
    return drawn.subarray(at - count, at)
  }
  return {
    start: next(4),
    // one unit more, the shape
    block: next(1 + WORDS_A_LEVEL),
    shape: next(8),
    levels: Array.from({ length: LEVELS }, () => next(WORDS_A_LEVEL)),
  }
}

/** AES-256-CTR under the SHA-256 digest of the seed, read as little-endian on every machine. */
function keystream(seed: Uint8Array, count: number): Int32Array {
  const key = createHash('sha256').update(FORMAT).update(seed).digest()
  const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(count * 4))
  const words = new Int32Array(count)
  for (let i = 0; i < count; i++) words[i] = bytes.readInt32LE(i * 4)
  return words
}
