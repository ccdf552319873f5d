import { aesKeystream, sha256 } from './crypto/node-crypto.ts'

/** The 5 KB of pseudorandom 32-bit words that a seed expands to. */
export interface KeyWords {
  /** Initial values of the four sums. */
  readonly start: Int32Array
  /** Multipliers of the units of a block. */
  readonly block: Int32Array
  /** Multipliers of the units of each level of a digest tree. */
  readonly levels: readonly Int32Array[]
  /** Multipliers of the shape of a key of several blocks: four for its low 16 bits, four for the remaining bits. */
  readonly shape: Int32Array
}

/** 256 units hold 512 latin1 characters, so nearly every key fits in one block. */
export const UNITS_A_BLOCK = 256

/** A digest is four units, so a level holds 64 digests of the level below; four levels hold 64⁴ blocks (8 GiB). */
export const LEVELS = 4

/** Sum j (0 to 3) multiplies unit i by word i + j, so the last unit needs three extra words. */
const WORDS_A_LEVEL = UNITS_A_BLOCK + 3

/** Part of the derivation, so that a later format with another name derives different words from the same seed. */
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
    // one more unit than a level: the shape
    block: next(1 + WORDS_A_LEVEL),
    shape: next(8),
    levels: Array.from({ length: LEVELS }, () => next(WORDS_A_LEVEL)),
  }
}

/** Expands the seed: AES-256-CTR keyed with the SHA-256 digest of format and seed, read as little-endian everywhere. */
function keystream(seed: Uint8Array, count: number): Int32Array {
  const bytes = aesKeystream(sha256(FORMAT, seed), count * 4)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const words = new Int32Array(count)
  for (let i = 0; i < count; i++) words[i] = view.getInt32(i * 4, true)
  return words
}
