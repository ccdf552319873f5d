import { createHmac } from 'node:crypto'
import { partitionOf } from '@sluice/fleet/backend'
import {
  badOption,
  type CountedKey,
  integerFrom,
  kindOf,
  SluiceError,
  storedNameOf,
} from '@sluice/limiter-core/backend'

/** Options that determine the Redis key of each client key. */
export interface EntityKeyOptions {
  /**
   * First part of every Redis key; 1 to 64 characters without braces or control characters. Must be the same in all
   * processes of a fleet. Default: `sluice`.
   */
  readonly prefix?: string | undefined
  /**
   * Secret of the fleet, at least 16 bytes: client keys that are stored as hashes are HMACs under this secret, so that
   * they cannot be guessed. Default: hashes without a secret.
   */
  readonly secret?: string | Uint8Array | undefined
  /**
   * Selects the client keys that are stored as hashes. `long`: empty keys, keys over 64 bytes, keys that begin with
   * `#`, and keys with braces, control characters or lone surrogates. `all`: every key, which requires a `secret`.
   * Default: `long`.
   */
  readonly hashKeys?: 'long' | 'all' | undefined
  /**
   * Number of hash slots over which the keys are distributed in a cluster, from 1 to 1,024, so that one call can
   * contain many keys. Must be the same in all processes of a fleet; changing it resets all counts. Default: each key
   * has its own slot.
   */
  readonly partitions?: number | undefined
}

/** The names of `EntityKeyOptions`, for `optionsOf`. */
export const ENTITY_KEY_OPTIONS = ['prefix', 'secret', 'hashKeys', 'partitions'] as const

const LONGEST_BYTES = 64
const MIN_SECRET_BYTES = 16
const MAX_PARTITIONS = 1024
// fast path for most keys: printable ASCII without braces that does not begin with `#`
const PLAIN = /^(?!#)[ -z|~]{1,64}$/
const NOT_PLAIN = /^#|[{}\p{Cc}\p{Cs}]/u

/**
 * Builds Redis keys: `prefix:{entity}:count`. The entity is the client key itself, or `#` and its hash, so that two
 * client keys never share a Redis key. The braces put all counts of a client key into one slot of a cluster. With
 * partitions, the tag of the partition comes before the entity, and Redis uses the first pair of braces.
 */
export class EntityKeys {
  readonly prefix: string
  readonly partitions: number | undefined
  readonly #head: string
  readonly #secret: string | Uint8Array
  readonly #hashesAll: boolean
  // one entry is enough, because the charges of a request usually share a key
  #lastKey: string | undefined
  #lastTag = ''

  /**
   * Throws `SLUICE_BAD_OPTION` if an option is invalid, and `SLUICE_SECRET_MISSING` if `hashKeys` is `all` without a
   * secret.
   */
  constructor(owner: string, { prefix = 'sluice', secret, hashKeys = 'long', partitions }: EntityKeyOptions) {
    checkPrefix(owner, prefix)
    if (partitions !== undefined) integerFrom(`${owner}: partitions`, partitions, 1, MAX_PARTITIONS)
    if (hashKeys !== 'long' && hashKeys !== 'all') {
      throw badOption(`${owner}: hashKeys`, hashKeys, "'long' or 'all'")
    }
    if (secret !== undefined) checkSecret(owner, secret)
    if (hashKeys === 'all' && secret === undefined) {
      throw new SluiceError(
        'SLUICE_SECRET_MISSING',
        `${owner}: secret: expected at least ${MIN_SECRET_BYTES} bytes if hashKeys is 'all', received undefined`,
      )
    }
    this.prefix = prefix
    this.partitions = partitions
    this.#head = `${prefix}:`
    this.#secret = secret ?? 'sluice'
    this.#hashesAll = hashKeys === 'all'
  }

  /** Equal for two instances that build the same Redis keys, apart from hashing. */
  get identity(): string {
    return this.partitions === undefined ? this.prefix : `${this.prefix}{${this.partitions}}`
  }

  /**
   * Returns the Redis key of the cells of a counted key. It includes the cell layout, which the cells do not contain.
   */
  nameOfCells({ key, counter }: CountedKey): string {
    return this.name(key, storedNameOf(counter))
  }

  /** Returns the Redis key of `count` for a client key. */
  name(key: string, count: string): string {
    if (key !== this.#lastKey) {
      this.#lastTag = `${this.#headOf(key)}{${this.#entity(key)}}:`
      this.#lastKey = key
    }
    return this.#lastTag + count
  }

  /** Returns the first part of all Redis keys in a partition. */
  headOf(partition: number): string {
    return `${this.#head}{p${partition}}:`
  }

  #headOf(key: string): string {
    return this.partitions === undefined ? this.#head : this.headOf(partitionOf(key, this.partitions))
  }

  #entity(key: string): string {
    if (!this.#hashesAll && isPlain(key)) return key
    // hashes UTF-16 code units, because UTF-8 encodes all lone surrogates as the same bytes
    const hash = createHmac('sha256', this.#secret).update(Buffer.from(key, 'utf16le'))
    return `#${hash.digest('base64url')}`
  }
}

function isPlain(key: string): boolean {
  if (PLAIN.test(key)) return true
  return key !== '' && key.length <= LONGEST_BYTES && !NOT_PLAIN.test(key) && Buffer.byteLength(key) <= LONGEST_BYTES
}

/** Throws `SLUICE_BAD_OPTION` unless `prefix` is 1 to 64 characters without braces and control characters. */
export function checkPrefix(owner: string, prefix: unknown): void {
  if (typeof prefix === 'string' && /^[^{}\p{Cc}\p{Cs}]{1,64}$/u.test(prefix)) return
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${owner}: prefix: expected 1 to 64 characters without braces, received ${kindOf(prefix)}`,
  )
}

function checkSecret(owner: string, secret: unknown): void {
  const isSecret = typeof secret === 'string' || secret instanceof Uint8Array
  if (isSecret && Buffer.byteLength(secret) >= MIN_SECRET_BYTES) return
  // does not show the secret or its length: it may be most of the real secret
  const expected = `a string or Uint8Array of at least ${MIN_SECRET_BYTES} bytes`
  const received = isSecret ? 'a shorter one' : kindOf(secret)
  throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: secret: expected ${expected}, received ${received}`)
}
