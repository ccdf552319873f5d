import type { Change, Row, RowStore } from '@sluice/fleet/backend'
import { badOption, type Clock, clockOf, integerFrom, KEEP_ALIVE, optionsOf } from '@sluice/limiter-core/backend'
import { isBusy, rollBack, type SqliteDatabase, type SqliteStatement } from './sqlite-database.ts'

export interface SqliteStoreOptions {
  /** Name of the table, from 1 to 64 letters, digits and underscores. Default: `sluice_rows`. */
  readonly table?: string | undefined
  /**
   * Time in ms, from 0 to 1,000, for which a write blocks the process while another process writes. The write is then
   * repeated later. Default: 10 ms.
   */
  readonly busyMs?: number | undefined
  /** Clock whose `wall` decides when rows expire. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
}

const TABLE = /^[A-Za-z_]\w{0,63}$/
/** Time in ms for which the creation of the table waits for other processes. */
const CREATE_MS = 5_000
const VERSIONS = 2 ** 52
/** Number of rows that each write checks for their expiry. */
const SWEPT_ROWS = 8
/** Number of attempts to read while another process writes, which is possible at once with the journal mode WAL. */
const READ_ATTEMPTS = 20

/**
 * Creates a store in a table of an SQLite file, which several processes of a machine can use. `database` is a `Database`
 * of `better-sqlite3` or a `DatabaseSync` of `node:sqlite`. It should have no other user in this process: the store sets
 * its `busy_timeout`, and its transactions cannot be within another one. Throws `SLUICE_BAD_OPTION`, and what the database
 * throws if the table cannot be created.
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): RowStore {
  const { table = 'sluice_rows', busyMs = 10, clock } = optionsOf('sqliteStore', options, ['table', 'busyMs', 'clock'])
  if (typeof database?.exec !== 'function' || typeof database.prepare !== 'function') {
    throw badOption('sqliteStore: database', database, 'a database of better-sqlite3 or node:sqlite')
  }
  if (!(typeof table === 'string' && TABLE.test(table))) {
    throw badOption('sqliteStore: table', table, '1 to 64 letters, digits and underscores')
  }
  integerFrom('sqliteStore: busyMs', busyMs, 0, 1_000)
  database.exec(`PRAGMA busy_timeout = ${CREATE_MS}`)
  // an empty blob may be bound as null
  database.exec(`CREATE TABLE IF NOT EXISTS ${table}
    (key TEXT PRIMARY KEY, cells BLOB, version INTEGER NOT NULL, expires_at REAL NOT NULL) WITHOUT ROWID`)
  database.exec(`PRAGMA busy_timeout = ${busyMs}`)
  return new SqliteStore(database, table, clockOf(clock))
}

class SqliteStore implements RowStore {
  readonly #database: SqliteDatabase
  readonly #clock: Clock
  readonly #select: SqliteStatement
  readonly #create: SqliteStatement
  readonly #replace: SqliteStatement
  readonly #next: SqliteStatement
  readonly #sweep: SqliteStatement
  #sweptTo = ''

  constructor(database: SqliteDatabase, table: string, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#select = database.prepare(`SELECT cells, version FROM ${table} WHERE key = ? AND expires_at > ?`)
    this.#create = database.prepare(`INSERT INTO ${table} (cells, version, expires_at, key) VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET cells = excluded.cells, version = excluded.version,
      expires_at = excluded.expires_at WHERE expires_at <= ?`)
    this.#replace = database.prepare(`UPDATE ${table} SET cells = ?, version = ?, expires_at = ?
      WHERE key = ? AND expires_at > ? AND version = ?`)
    const part = `SELECT key, expires_at FROM ${table} WHERE key > ? ORDER BY key LIMIT ${SWEPT_ROWS}`
    this.#next = database.prepare(`SELECT max(key) AS last, min(expires_at) AS soonest FROM (${part})`)
    this.#sweep = database.prepare(`DELETE FROM ${table} WHERE key > ? AND key <= ? AND expires_at <= ?`)
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return this.#rowsOf(keys, this.#clock.wall())
      } catch (error) {
        if (!isBusy(error) || attempt === READ_ATTEMPTS) throw error
        await new Promise<void>((resolve) => this.#clock.after(1, resolve, KEEP_ALIVE))
      }
    }
  }

  async write(changes: readonly Change[], { ttlMs }: { readonly ttlMs: number }): Promise<boolean> {
    const now = this.#clock.wall()
    let hasBegun = false
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      hasBegun = true
      const isWritten = changes.every((change) => this.#isWritten(change, now, ttlMs))
      if (isWritten) this.#sweepSome(now)
      this.#database.exec(isWritten ? 'COMMIT' : 'ROLLBACK')
      return isWritten
    } catch (error) {
      if (hasBegun) rollBack(this.#database)
      if (isBusy(error)) return false
      throw error
    }
  }

  #rowsOf(keys: readonly string[], now: number): (Row | undefined)[] {
    return keys.map((key) => {
      const row = this.#select.get(key, now) as { cells: Uint8Array | null; version: number } | undefined
      return row && { cells: row.cells ?? new Uint8Array(), version: row.version }
    })
  }

  #isWritten({ key, cells, version }: Change, now: number, ttlMs: number): boolean {
    const values = [cells, Math.floor(Math.random() * VERSIONS), now + ttlMs, key, now] as const
    const done = version === undefined ? this.#create.run(...values) : this.#replace.run(...values, Number(version))
    return Number(done.changes) === 1
  }

  /** Deletes the expired rows among the next few, so that no write takes long. */
  #sweepSome(now: number): void {
    const { last, soonest } = this.#next.get(this.#sweptTo) as { last: string | null; soonest: number | null }
    if (last !== null && soonest !== null && soonest <= now) this.#sweep.run(this.#sweptTo, last, now)
    this.#sweptTo = last ?? ''
  }
}
