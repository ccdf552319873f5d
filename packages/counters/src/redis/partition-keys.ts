import { badOption } from '@sluice/limiter-core/backend'
import { storedId } from '../ledger/stored-id.ts'

/** Redis keys of one partition of counters, all in the same hash slot. */
export class PartitionKeys {
  /** The first keys of every script. */
  readonly fixed: readonly string[]
  readonly #head: string

  constructor(prefix: string, name: string, partition: number) {
    this.#head = `${prefix}:{counters:${name}:${partition}}:`
    this.fixed = ['state', 'pending', 'owed', 'closed'].map((one) => this.#head + one)
  }

  /** Returns the key that identifies a call, so that a repeated call is detected. */
  call(nonce: string): string {
    return `${this.#head}call:${nonce}`
  }

  /** Returns the key of the cached total of an id. */
  entry(id: string): string {
    return `${this.#head}entry:${storedId(id)}`
  }
}

/**
 * Returns `prefix`; throws `SLUICE_BAD_OPTION` unless it is 1 to 64 characters without braces and control characters.
 */
export function checkedPrefix(owner: string, prefix: unknown): string {
  if (typeof prefix === 'string' && /^[^{}\p{Cc}\p{Cs}]{1,64}$/u.test(prefix)) return prefix
  throw badOption(`${owner}: prefix`, prefix, '1 to 64 characters without braces')
}
