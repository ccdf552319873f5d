import type { Change, Row, RowStore, RowWriteOptions } from '@sluice/fleet/backend'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { creationOf, isTableName, newVersion, partOf } from './row-table.ts'

/** The part of a prepared statement of D1 that `d1Store` uses. */
export interface D1Statement {
  bind(...values: (string | number)[]): D1Statement
}

/** The part of a database of D1 that `d1Store` uses. */
export interface D1Database {
  prepare(sql: string): D1Statement
  batch(statements: D1Statement[]): Promise<readonly { readonly results: readonly unknown[] }[]>
}

export interface D1StoreOptions {
  /** Function `waitUntil` of the module `cloudflare:workers`, so that refunds and probes are finished after the response. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Name of the table: 1 to 64 letters, digits and underscores. Default: `sluice_rows`. */
  readonly table?: string | undefined
}

/** Store returned by `d1Store`. */
export interface D1Store extends RowStore {
  /** Creates the table unless it exists. */
  migrate(): Promise<void>
}

/** Number of writes after which some expired rows are deleted. */
const SWEEP_WRITES = 8
/** Number of rows that are then checked for their expiry. */
const SWEPT_ROWS = 64
/** Time of the database in epoch ms. */
const NOW = "(unixepoch('subsec') * 1000)"

/**
 * Creates a store in a table of Cloudflare D1. `database` is the binding of a Worker, and not a session. Call
 * `await store.migrate()` once to create the table. Counts use the clock of the database. Throws `SLUICE_BAD_OPTION`.
 */
export function d1Store(database: D1Database, options: D1StoreOptions): D1Store {
  const { waitUntil, table = 'sluice_rows' } = optionsOf('d1Store', options, ['waitUntil', 'table'])
  if (typeof database?.prepare !== 'function' || typeof database.batch !== 'function') {
    throw badOption('d1Store: database', database, 'a binding of D1')
  }
  if (!isTableName(table)) throw badOption('d1Store: table', table, '1 to 64 letters, digits and underscores')
  if (typeof waitUntil !== 'function') {
    throw badOption('d1Store: waitUntil', waitUntil, 'the waitUntil of cloudflare:workers')
  }
  return new TableStore(database, table, waitUntil)
}

class TableStore implements D1Store {
  readonly #database: D1Database
  readonly #table: string
  readonly keepRunning: (work: Promise<unknown>) => void
  #writes = 0
  #sweptTo = ''

  constructor(database: D1Database, table: string, waitUntil: (work: Promise<unknown>) => void) {
    this.#database = database
    this.#table = table
    this.keepRunning = waitUntil
  }

  async migrate(): Promise<void> {
    await this.#run(creationOf(this.#table))
  }

  async now(): Promise<number> {
    const [{ now }] = await this.#run<{ readonly now: number }>(`SELECT ${NOW} AS now`)
    return now
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    // a list in JSON, because a statement has at most 100 parameters
    const sql = `SELECT key, hex(cells) AS cells, version FROM ${this.#table}
      WHERE key IN (SELECT value FROM json_each(?)) AND expires_at > ${NOW}`
    const stored = keys.map(encodeURI)
    const rows = await this.#run<{ key: string; cells: string; version: number }>(sql, JSON.stringify(stored))
    const found = new Map(rows.map(({ key, cells, version }) => [key, { cells: bytesOf(cells), version }]))
    return stored.map((key) => found.get(key))
  }

  /** Writes all rows in one statement, which writes none if any of them has another version. */
  async write(changes: readonly Change[], { ttlMs }: RowWriteOptions): Promise<boolean> {
    const sql = `WITH changes AS (SELECT value ->> 0 AS key, unhex(value ->> 1) AS cells, value ->> 2 AS version,
      value ->> 3 AS expected FROM json_each(?))
      REPLACE INTO ${this.#table} SELECT key, cells, version, ${NOW} + ? FROM changes WHERE NOT EXISTS (
        SELECT 1 FROM changes LEFT JOIN ${this.#table} AS stored ON stored.key = changes.key AND expires_at > ${NOW}
        WHERE stored.version IS NOT changes.expected) RETURNING key`
    const rows = changes.map(({ key, cells, version }) => [encodeURI(key), hexOf(cells), newVersion(), version])
    const put = this.#database.prepare(sql).bind(JSON.stringify(rows), ttlMs)
    const sweeps = ++this.#writes % SWEEP_WRITES === 0
    const [written, swept] = await this.#database.batch([put, ...(sweeps ? this.#sweep() : [])])
    if (swept) this.#sweptTo = (swept.results[0] as { readonly last: string | null }).last ?? ''
    return written.results.length === changes.length
  }

  async #run<T>(sql: string, ...values: string[]): Promise<readonly T[]> {
    const [{ results }] = await this.#database.batch([this.#database.prepare(sql).bind(...values)])
    return results as readonly T[]
  }

  /** Finds the end of the next rows, and deletes the expired ones among them. */
  #sweep(): D1Statement[] {
    const last = `SELECT max(key) AS last FROM (${partOf(this.#table)})`
    const expired = `DELETE FROM ${this.#table} WHERE key <= (${last}) AND key > ? AND expires_at <= ${NOW}`
    const part = [this.#sweptTo, SWEPT_ROWS] as const
    return [this.#database.prepare(last).bind(...part), this.#database.prepare(expired).bind(...part, this.#sweptTo)]
  }
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16))
}
