import { createHash, randomBytes } from 'node:crypto'
import { createKeyedHash, type KeyedHash } from '@sluice/keyed-hash'
import { describedKind, SketchError } from '../sketch-error.ts'

const LEAST_BYTES = 16
const WORDS_A_SLOT = 11

/** From which everything that decides where a key is counted is drawn. Whoever knows it can forge keys that meet. */
export class SlotSecret {
  readonly #bytes: Uint8Array

  /** `seed`: 16 bytes or more, text as UTF-8. Default: 32 random bytes. Throws `SLUICE_BAD_OPTION`. */
  constructor(seed: unknown = randomBytes(32)) {
    const bytes = typeof seed === 'string' ? Buffer.from(seed) : seed
    if (!(bytes instanceof Uint8Array) || bytes.length < LEAST_BYTES) {
      const got = bytes instanceof Uint8Array ? `${bytes.length} bytes` : describedKind(seed)
      throw new SketchError('SLUICE_BAD_OPTION', `seed: expected ${LEAST_BYTES} secret bytes or more, received ${got}`)
    }
    this.#bytes = Uint8Array.from(bytes)
  }

  /** A hash of its own for each purpose. */
  hashFor(purpose: string): KeyedHash {
    return createKeyedHash(this.#drawn(purpose))
  }

  /** 11 words that nobody can tell from those of other slots. */
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
