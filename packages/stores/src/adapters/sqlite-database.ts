const SQLITE_BUSY = 5

/** The part of a database of `better-sqlite3` or `node:sqlite` that `sqliteStore` uses. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/** The part of a prepared statement that `sqliteStore` uses. */
export interface SqliteStatement {
  get(...values: (string | number | Uint8Array)[]): unknown
  run(...values: (string | number | Uint8Array)[]): unknown
}

/** Returns the result of `run`, which must not return before it has written. Throws if another process writes. */
export function inTransaction<T>(database: SqliteDatabase, run: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = run()
    database.exec('COMMIT')
    return result
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // SQLite has already ended the transaction, and the caller needs the first error
    }
    throw error
  }
}

/** Whether another process writes. Both clients have other codes. */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  return /^SQLITE_BUSY/.test(String(code)) || (typeof errcode === 'number' && errcode % 256 === SQLITE_BUSY)
}
