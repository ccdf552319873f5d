import { createHmac } from 'node:crypto'
import {
  badOption,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  kindOf,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { partitionOf } from '@sluice/limiter-core/sync'

/** How keys are named in Redis. */
export interface EntityKeyOptions {
  /** First part of every name; default: `sluice`. 1 to 64 characters, without braces. All processes of a fleet need the same. */
  readonly prefix?: string | undefined
  /**
   * Shared secret of all processes, at least 16 bytes: hashed keys are HMACs with it, so that they cannot be guessed.
   */
  readonly secret?: string | Uint8Array | undefined
  /**
   * Which keys are stored as hashes: `long` (default) those above 64 bytes and those that are not plain text; `all`
   * every key, which requires a `secret`.
   */
  readonly hashKeys?: 'long' | 'all' | undefined
  /**
   * Number of cluster slots over which keys are distributed, 1 to 1,024, instead of one slot per key. Calls for many
   * keys need it, for example those of `syncedBackend`. Default: one slot per key. All processes need the same
   * number; another number starts with empty counts.
   */
  readonly partitions?: number | undefined
}

/** The names of `EntityKeyOptions`, for `optionsOf`. */
export const ENTITY_KEY_OPTIONS = ['prefix', 'secret', 'hashKeys', 'partitions'] as const

const LONGEST_BYTES = 64
const LEAST_SECRET_BYTES = 16
const MOST_PARTITIONS = 1024
// printable ASCII without braces and without a leading `#`: almost every key
const PLAIN = /^(?!#)[ -z|~]{1,64}$/
const NOT_PLAIN = /^#|[{}\p{Cc}\p{Cs}]/u

/**
 * Creates the names of stored data: `prefix:{entity}:count`. The entity is the key, or `#` and a hash of it, so that
 * no two keys share a name; it is in braces, so that all counts of a key are in one cluster slot. With partitions,
 * the partition precedes it in braces, of which Redis uses the first.
 */
export class EntityKeys {
  readonly prefix: string
  readonly partitions: number | undefined
  readonly #head: string
  readonly #secret: string | Uint8Array
  readonly #hashesAll: boolean
  // the charges of one request mostly have one key
  #lastKey: string | undefined
  #lastTag = ''

  /** Throws `SLUICE_BAD_OPTION`, and `SLUICE_SECRET_MISSING` where all keys shall go as hashes under no secret. */
  constructor(owner: string, { prefix = 'sluice', secret, hashKeys = 'long', partitions }: EntityKeyOptions) {
    checkPrefix(owner, prefix)
    if (partitions !== undefined) checkPartitions(owner, partitions)
    if (hashKeys !== 'long' && hashKeys !== 'all') {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `${owner}: hashKeys: expected 'long' or 'all', received ${kindOf(hashKeys)}`,
      )
    }
    if (secret !== undefined) checkSecret(owner, secret)
    if (hashKeys === 'all' && secret === undefined) {
      throw new SluiceError(
        'SLUICE_SECRET_MISSING',
        `${owner}: hashKeys: expected a secret of at least ${LEAST_SECRET_BYTES} bytes, received 'all' without a secret`,
      )
    }
    this.prefix = prefix
    this.partitions = partitions
    this.#head = `${prefix}:`
    this.#secret = secret ?? 'sluice'
    this.#hashesAll = hashKeys === 'all'
  }

  /** Equal where the same key has the same names. */
  get identity(): string {
    return this.partitions === undefined ? this.prefix : `${this.prefix}{${this.partitions}}`
  }

  /** Returns the name under which the cells of `key` are stored. It identifies their layout, which the cells do not. */
  nameOfCells({ key, counter }: CountedKey): string {
    return this.name(key, storedNameOf(counter))
  }

  /** The name under which `count` of `key` is stored. */
  name(key: string, count: string): string {
    if (key !== this.#lastKey) {
      this.#lastTag = `${this.#headOf(key)}{${this.#entity(key)}}:`
      this.#lastKey = key
    }
    return this.#lastTag + count
  }

  /** The beginning of all names of a partition. */
  headOf(partition: number): string {
    return `${this.#head}{p${partition}}:`
  }

  #headOf(key: string): string {
    return this.partitions === undefined ? this.#head : this.headOf(partitionOf(key, this.partitions))
  }

  #entity(key: string): string {
    if (!this.#hashesAll && isPlain(key)) return key
    // its UTF-16 units, since UTF-8 writes all lone surrogates alike
    const hash = createHmac('sha256', this.#secret).update(Buffer.from(key, 'utf16le'))
    return `#${hash.digest('base64url')}`
  }
}

const storedNames = new WeakMap<Counter, string>()

/** Returns the name of a counter, extended by what it does not contain about its cells. */
function storedNameOf(counter: Counter): string {
  let stored = storedNames.get(counter)
  if (stored === undefined) {
    stored = counter.name + meaningOf(counter.compiled)
    storedNames.set(counter, stored)
  }
  return stored
}

/** The windows with which units end, and into how many slices they are cut. */
function meaningOf(compiled: CompiledPolicy): string {
  // the name of a count with several variants contains the slices of each
  const { slices = 1 } = compiled.variants ? {} : compiled.policy
  const windows = compiled.variants?.flatMap((variant) => windowOf(variant.compiled)) ?? windowOf(compiled)
  const ends = windows.length > 0 ? `/${windows.join('+')}` : ''
  return slices > 1 ? `${ends}/${slices}` : ends
}

/** Units that drain are the same ones in any window. */
function windowOf({ policy: { algorithm, windowMs } }: CompiledPolicy): readonly number[] {
  return algorithm === 'token-bucket' || algorithm === 'gcra' ? [] : [windowMs]
}

function isPlain(key: string): boolean {
  if (PLAIN.test(key)) return true
  return key !== '' && key.length <= LONGEST_BYTES && !NOT_PLAIN.test(key) && Buffer.byteLength(key) <= LONGEST_BYTES
}

/** Throws `SLUICE_BAD_OPTION` unless `prefix` can begin the names of a fleet. */
export function checkPrefix(owner: string, prefix: unknown): void {
  if (typeof prefix === 'string' && /^[^{}\p{Cc}\p{Cs}]{1,64}$/u.test(prefix)) return
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${owner}: prefix: expected 1 to 64 characters without braces, received ${kindOf(prefix)}`,
  )
}

function checkPartitions(owner: string, partitions: unknown): void {
  const isWhole = Number.isInteger(partitions) && (partitions as number) >= 1
  if (isWhole && (partitions as number) <= MOST_PARTITIONS) return
  throw badOption(`${owner}: partitions`, partitions, `an integer from 1 to ${MOST_PARTITIONS}`)
}

function checkSecret(owner: string, secret: unknown): void {
  const isSecret = typeof secret === 'string' || secret instanceof Uint8Array
  if (isSecret && Buffer.byteLength(secret) >= LEAST_SECRET_BYTES) return
  // never shown: it may be most of the real one
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${owner}: secret: expected a string or bytes of at least ${LEAST_SECRET_BYTES} bytes, received ${isSecret ? 'a shorter one' : 'none'}`,
  )
}
