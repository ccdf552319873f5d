import { type CountedKey, kindOf, SluiceError, storedNameOf } from '@sluice/limiter-core/backend'
import { hmacSha256 } from '@sluice/limiter-core/keyed-hash'

const MIN_SECRET_CHARACTERS = 16
// printable ASCII that does not begin with `#`
const PLAIN_KEY = /^(?!#)[ -~]{1,64}$/
// storage keys of Durable Objects and of DynamoDB have at most 2,048 bytes
const PLAIN_TEXT = /^[!-~]{1,400}$/

/** Builds the names of stored entries: at most 465 printable ASCII characters. */
export class EntryNames {
  readonly #secret: string
  /** Whether all client keys are hashed. */
  readonly hashesAll: boolean

  /**
   * With a `secret`, all client keys are hashed. Throws `SLUICE_BAD_OPTION` if it is shorter than 16 characters. `owner`
   * is the start of the message.
   */
  constructor(secret: string | undefined, owner: string) {
    if (secret !== undefined) checkSecret(secret, owner)
    this.#secret = secret ?? 'sluice'
    this.hashesAll = secret !== undefined
  }

  /** Returns the name of the count and the stored form of the client key. */
  nameOf({ key, counter }: CountedKey): string {
    return `${plainName(storedNameOf(counter))} ${this.storedKey(key)}`
  }

  /** Returns the client key, or `#` and the hash of the client key. */
  storedKey(key: string): string {
    return !this.hashesAll && PLAIN_KEY.test(key) ? key : hashed(this.#secret, key)
  }
}

/** Returns the same text, or its hash if it is long or has unusual characters. */
export function plainName(text: string): string {
  return PLAIN_TEXT.test(text) ? text : hashed('sluice', text)
}

function hashed(secret: string, text: string): string {
  // as JSON, because UTF-8 encodes all lone surrogates as the same bytes
  const digest = hmacSha256(secret, JSON.stringify(text))
  return `#${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function checkSecret(secret: unknown, owner: string): void {
  if (typeof secret === 'string' && secret.length >= MIN_SECRET_CHARACTERS) return
  // does not show the secret or its length: it may be most of the real secret
  const expected = `a string of at least ${MIN_SECRET_CHARACTERS} characters`
  const received = typeof secret === 'string' ? 'a shorter one' : kindOf(secret)
  throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: secret: expected ${expected}, received ${received}`)
}
