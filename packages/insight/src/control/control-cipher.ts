import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const MAX_BYTES = 1_048_576

/** Encrypts and authenticates messages with a key derived from the shared secret (AES-256-GCM, bound to the topic). */
export class ControlCipher {
  readonly #key: Uint8Array
  readonly #topic: Buffer

  constructor(secret: string, topic: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', '@sluice/insight control', 32))
    this.#topic = Buffer.from(topic)
  }

  seal(text: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(this.#topic)
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body])
  }

  /** Decrypts a message. Throws if it was not encrypted with the same secret for the same topic. */
  open(message: Uint8Array): string {
    if (message[0] !== VERSION) throw new Error(`expected version ${VERSION}, received ${message[0]}`)
    if (message.length > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes, received ${message.length}`)
    const nonce = message.subarray(1, 1 + NONCE_BYTES)
    const tag = message.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
    const cipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(this.#topic).setAuthTag(tag)
    const body = message.subarray(1 + NONCE_BYTES + TAG_BYTES)
    return Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8')
  }
}
