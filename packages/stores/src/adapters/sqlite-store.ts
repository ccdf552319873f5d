import { type Change, type Row, type RowStore, type RowWriteOptions, TurnBatch } from '@sluice/fleet/backend'
import { badOption, type Clock, clockOf, integerFrom, KEEP_ALIVE, optionsOf } from '@sluice/limiter-core/backend'
import { creationOf, isTableName, newVersion, partOf } from './row-table.ts'
import { inTransaction, isBusy, type SqliteDatabase, type SqliteStatement } from './sqlite-database.ts'

export interface SqliteStoreOptions {
  /** Name of the table: 1 to 64 letters, digits and underscores. Default: `sluice_rows`. */
  readonly table?: string | undefined
  /**
   * Time in ms, from 0 to 1,000, for which a write blocks the process while another process writes. The write is then
   * repeated later. Default: 10 ms.
   */
  readonly busyMs?: number | undefined
  /** Clock whose `wall` decides when rows expire. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
}

/** Time in ms for which the creation of the table waits for other processes. */
const CREATE_MS = 5_000
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
  if (!isTableName(table)) {
    throw badOption('sqliteStore: table', table, '1 to 64 letters, digits and underscores')
  }
  integerFrom('sqliteStore: busyMs', busyMs, 0, 1_000)
  const busy = 'PRAGMA busy_timeout ='
  database.exec(`${busy} ${CREATE_MS}; ${creationOf(table)}; ${busy} ${busyMs}`)
  return new SqliteStore(database, table, clockOf(clock))
}

interface Write extends RowWriteOptions {
  readonly changes: readonly Change[]
  readonly resolve: (isWritten: boolean) => void
  readonly reject: (error: unknown) => void
}

class SqliteStore implements RowStore {
  readonly #database: SqliteDatabase
  readonly #clock: Clock
  readonly #select: SqliteStatement
  readonly #put: SqliteStatement
  readonly #next: SqliteStatement
  readonly #delete: SqliteStatement
  readonly #batch: TurnBatch<Write> = new TurnBatch(() => this.#writeAll())
  #sweptTo = ''

  constructor(database: SqliteDatabase, table: string, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#select = database.prepare(`SELECT cells, version FROM ${table} WHERE key = ? AND expires_at > ?`)
    this.#put = database.prepare(`REPLACE INTO ${table} (key, cells, version, expires_at) VALUES (?, ?, ?, ?)`)
    this.#next = database.prepare(`SELECT max(key) AS last, min(expires_at) AS soonest FROM (${partOf(table)})`)
    this.#delete = database.prepare(`DELETE FROM ${table} WHERE key > ? AND key <= ? AND expires_at <= ?`)
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return keys.map((key) => this.#rowOf(key, this.#clock.wall()))
      } catch (error) {
        if (!isBusy(error) || attempt === READ_ATTEMPTS) throw error
        await new Promise<void>((resolve) => this.#clock.after(1, resolve, KEEP_ALIVE))
      }
    }
  }

  /** The writes of a turn share a transaction, because each commit waits for the disk. */
  write(changes: readonly Change[], { ttlMs }: RowWriteOptions): Promise<boolean> {
    return new Promise((resolve, reject) => this.#batch.add({ changes, ttlMs, resolve, reject }))
  }

  #writeAll(): void {
    const writes = this.#batch.take()
    try {
      const results = inTransaction(this.#database, () => {
        const now = this.#clock.wall()
        this.#sweepSome(now, SWEPT_ROWS * writes.length)
        return writes.map((write) => this.#isWritten(write, now))
      })
      for (const [index, { resolve }] of writes.entries()) resolve(results[index])
    } catch (error) {
      for (const { resolve, reject } of writes) isBusy(error) ? resolve(false) : reject(error)
    }
  }

  #isWritten({ changes, ttlMs }: Write, now: number): boolean {
    if (changes.some(({ key, version }) => this.#rowOf(key, now)?.version !== version)) return false
    for (const { key, cells } of changes) this.#put.run(key, cells, newVersion(), now + ttlMs)
    return true
  }

  #rowOf(key: string, now: number): Row | undefined {
    const row = this.#select.get(key, now) as { cells: Uint8Array | null; version: number } | undefined
    return row && { cells: row.cells ?? new Uint8Array(), version: row.version }
  }

  /** Deletes the expired rows among the next few, so that no write takes long. */
  #sweepSome(now: number, rows: number): void {
    const { last, soonest } = this.#next.get(this.#sweptTo, rows) as { last: string | null; soonest: number | null }
    if (last !== null && soonest !== null && soonest <= now) this.#delete.run(this.#sweptTo, last, now)
    this.#sweptTo = last ?? ''
  }
}
