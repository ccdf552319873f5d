import { createHmac } from 'node:crypto'
import { type CountedKey, kindOf, SluiceError, storedNameOf } from '@sluice/limiter-core/backend'

const MIN_SECRET_BYTES = 16
// printable ASCII that does not begin with `#`; PostgreSQL stores no zero characters, and not all encodings the rest
const PLAIN = /^(?!#)[ -~]{1,64}$/

/** Builds the names of rows: the name of the count and the client key, or `#` and the hash of the client key. */
export class RowNames {
  readonly #secret: string | Uint8Array
  readonly #hashesAll: boolean

  /** With a `secret`, all client keys are hashed. Throws `SLUICE_BAD_OPTION` if it has less than 16 bytes. */
  constructor(secret: string | Uint8Array | undefined) {
    if (secret !== undefined) checkSecret(secret)
    this.#secret = secret ?? 'sluice'
    this.#hashesAll = secret !== undefined
  }

  nameOf({ key, counter }: CountedKey): string {
    return `${plain(storedNameOf(counter))} ${this.#entity(key)}`
  }

  #entity(key: string): string {
    return !this.#hashesAll && PLAIN.test(key) ? key : hashed(this.#secret, key)
  }
}

/** Returns a text that PostgreSQL can store: the same text, or its hash if it is long or has unusual characters. */
function plain(text: string): string {
  return /^[!-~]{1,400}$/.test(text) ? text : hashed('sluice', text)
}

function hashed(secret: string | Uint8Array, text: string): string {
  // hashes UTF-16 code units, because UTF-8 encodes all lone surrogates as the same bytes
  return `#${createHmac('sha256', secret).update(Buffer.from(text, 'utf16le')).digest('base64url')}`
}

function checkSecret(secret: unknown): void {
  const isSecret = typeof secret === 'string' || secret instanceof Uint8Array
  if (isSecret && Buffer.byteLength(secret) >= MIN_SECRET_BYTES) return
  // does not show the secret or its length: it may be most of the real secret
  const expected = `a string or Uint8Array of at least ${MIN_SECRET_BYTES} bytes`
  const received = isSecret ? 'a shorter one' : kindOf(secret)
  throw new SluiceError('SLUICE_BAD_OPTION', `postgresBackend: secret: expected ${expected}, received ${received}`)
}
