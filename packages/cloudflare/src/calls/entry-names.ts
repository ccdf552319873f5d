import { partitionOf } from '@sluice/fleet/backend'
import { type CountedKey, kindOf, SluiceError, storedNameOf } from '@sluice/limiter-core/backend'
import { hmacSha256 } from '@sluice/limiter-core/keyed-hash'

const MIN_SECRET_CHARACTERS = 16
// printable ASCII that does not begin with `#`
const PLAIN_KEY = /^(?!#)[ -~]{1,64}$/
// storage keys of Durable Objects have at most 2,048 bytes
const PLAIN_TEXT = /^[!-~]{1,400}$/

/** Builds the names of stored entries, and distributes client keys over objects. */
export class EntryNames {
  readonly #secret: string
  readonly #hashesAll: boolean
  readonly #shards: number

  /** With a `secret`, all client keys are hashed. Throws `SLUICE_BAD_OPTION` if it is shorter than 16 characters. */
  constructor(secret: string | undefined, shards: number) {
    if (secret !== undefined) checkSecret(secret)
    this.#secret = secret ?? 'sluice'
    this.#hashesAll = secret !== undefined
    this.#shards = shards
  }

  /** Returns the name of the count and the client key, or `#` and the hash of the client key. */
  nameOf({ key, counter }: CountedKey): string {
    return `${plain(storedNameOf(counter))} ${this.#entity(key)}`
  }

  /** Returns the shard of a client key. All policies of a key have the same shard. */
  shardOf(key: string): number {
    return partitionOf(this.#hashesAll ? this.#entity(key) : key, this.#shards)
  }

  #entity(key: string): string {
    return !this.#hashesAll && PLAIN_KEY.test(key) ? key : hashed(this.#secret, key)
  }
}

/** Returns the same text, or its hash if it is long or has unusual characters. */
export function plain(text: string): string {
  return PLAIN_TEXT.test(text) ? text : hashed('sluice', text)
}

function hashed(secret: string, text: string): string {
  // as JSON, because UTF-8 encodes all lone surrogates as the same bytes
  const digest = hmacSha256(secret, JSON.stringify(text))
  return `#${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function checkSecret(secret: unknown): void {
  if (typeof secret === 'string' && secret.length >= MIN_SECRET_CHARACTERS) return
  // does not show the secret or its length: it may be most of the real secret
  const expected = `a string of at least ${MIN_SECRET_CHARACTERS} characters`
  const received = typeof secret === 'string' ? 'a shorter one' : kindOf(secret)
  throw new SluiceError('SLUICE_BAD_OPTION', `durableObjectBackend: secret: expected ${expected}, received ${received}`)
}
