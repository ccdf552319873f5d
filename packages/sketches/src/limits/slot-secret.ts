import { createHash, randomBytes } from 'node:crypto'
import { createKeyedHash, type KeyedHash } from '@sluice/limiter-core/keyed-hash'
import { describedKind, SketchError } from '../sketch-error.ts'

const MIN_BYTES = 16
const WORDS_A_SLOT = 11

/** The source of all positions of keys. With a known secret, colliding keys can be forged. */
export class SlotSecret {
  readonly #bytes: Uint8Array

  /** `seed`: at least 16 bytes, or a string as UTF-8. Default: 32 random bytes. Throws `SLUICE_BAD_OPTION`. */
  constructor(seed: unknown = randomBytes(32)) {
    const bytes = typeof seed === 'string' ? Buffer.from(seed) : seed
    if (!(bytes instanceof Uint8Array) || bytes.length < MIN_BYTES) {
      const got = bytes instanceof Uint8Array ? `${bytes.length} bytes` : describedKind(seed)
      throw new SketchError('SLUICE_BAD_OPTION', `seed: expected ${MIN_BYTES} secret bytes or more, received ${got}`)
    }
    this.#bytes = Uint8Array.from(bytes)
  }

  /** Returns a separate hash for each purpose. */
  hashFor(purpose: string): KeyedHash {
    return createKeyedHash(this.#drawn(purpose))
  }

  /** Returns 11 pseudo-random words for a slot. */
  wordsOf(slot: number): Int32Array {
    const drawn = this.#drawn(`slot ${slot}`)
    const words = new Int32Array(WORDS_A_SLOT)
    for (let i = 0; i < words.length; i++) words[i] = drawn.readInt32LE(4 * i)
    return words
  }

  #drawn(purpose: string): Buffer {
    return createHash('sha512').update('@sluice/sketches slots\0').update(this.#bytes).update(`\0${purpose}`).digest()
  }
}
