import { badOption } from '@sluice/limiter-core/backend'
import { storedId } from '../ledger/stored-id.ts'

/** Names of what one partition of counters has in Redis; they share a hash slot. */
export class PartitionKeys {
  /** What every script begins with. */
  readonly fixed: readonly string[]
  readonly #head: string

  constructor(prefix: string, name: string, partition: number) {
    this.#head = `${prefix}:{counters:${name}:${partition}}:`
    this.fixed = ['state', 'pending', 'owed', 'closed'].map((one) => this.#head + one)
  }

  /** By which a call is known when it arrives twice. */
  call(nonce: string): string {
    return `${this.#head}call:${nonce}`
  }

  /** Of the total of an id. */
  entry(id: string): string {
    return `${this.#head}entry:${storedId(id)}`
  }
}

/** Throws `SLUICE_BAD_OPTION` unless `prefix` can begin names in Redis. */
export function checkedPrefix(owner: string, prefix: unknown): string {
  if (typeof prefix === 'string' && /^[^{}\p{Cc}\p{Cs}]{1,64}$/u.test(prefix)) return prefix
  throw badOption(`${owner}: prefix`, prefix, '1 to 64 characters without braces')
}
