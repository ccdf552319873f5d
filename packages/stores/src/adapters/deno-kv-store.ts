import type { Change, Row, RowStore, RowWriteOptions } from '@sluice/fleet/backend'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'

export type DenoKvKey = readonly [prefix: string, key: string]

/** The part of an atomic operation of Deno KV that `denoKvStore` uses. */
export interface DenoKvAtomic {
  check(check: { key: DenoKvKey; versionstamp: string | null }): unknown
  set(key: DenoKvKey, value: Uint8Array, options: { expireIn: number }): unknown
  commit(): Promise<{ readonly ok: boolean }>
}

/** The part of a `Deno.Kv` that `denoKvStore` uses. */
export interface DenoKv {
  getMany(
    keys: readonly DenoKvKey[],
  ): Promise<readonly { readonly value: unknown; readonly versionstamp: string | null }[]>
  atomic(): DenoKvAtomic
}

export interface DenoKvOptions {
  /** First part of all keys, from 1 to 64 characters. Default: `sluice`. */
  readonly prefix?: string | undefined
}

/** Most keys of a `getMany`. */
const READ_KEYS = 10
const MAX_PREFIX = 64

/**
 * Creates a store in Deno KV. `kv` is the result of `Deno.openKv()`, which the caller closes. Counts use the clock of each
 * process. Throws `SLUICE_BAD_OPTION`.
 */
export function denoKvStore(kv: DenoKv, options: DenoKvOptions = {}): RowStore {
  const { prefix = 'sluice' } = optionsOf('denoKvStore', options, ['prefix'])
  if (typeof kv?.getMany !== 'function' || typeof kv.atomic !== 'function') {
    throw badOption('denoKvStore: kv', kv, 'the result of Deno.openKv')
  }
  if (!(typeof prefix === 'string' && prefix.length >= 1 && prefix.length <= MAX_PREFIX)) {
    throw badOption('denoKvStore: prefix', prefix, `1 to ${MAX_PREFIX} characters`)
  }
  return new DenoKvStore(kv, prefix)
}

class DenoKvStore implements RowStore {
  readonly #kv: DenoKv
  readonly #prefix: string

  constructor(kv: DenoKv, prefix: string) {
    this.#kv = kv
    this.#prefix = prefix
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    const parts: Promise<readonly (Row | undefined)[]>[] = []
    for (let from = 0; from < keys.length; from += READ_KEYS)
      parts.push(this.#readSome(keys.slice(from, from + READ_KEYS)))
    return (await Promise.all(parts)).flat()
  }

  async write(changes: readonly Change[], { ttlMs }: RowWriteOptions): Promise<boolean> {
    if (changes.length === 0) return true
    const atomic = this.#kv.atomic()
    for (const { key, cells, version } of changes) {
      atomic.check({ key: [this.#prefix, key], versionstamp: version === undefined ? null : String(version) })
      atomic.set([this.#prefix, key], cells, { expireIn: ttlMs })
    }
    const { ok } = await atomic.commit()
    return ok
  }

  async #readSome(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    const entries = await this.#kv.getMany(keys.map((key) => [this.#prefix, key]))
    return entries.map(({ value, versionstamp }) => {
      return versionstamp === null ? undefined : { cells: value as Uint8Array, version: versionstamp }
    })
  }
}
