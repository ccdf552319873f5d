const SQLITE_BUSY = 5

/** The part of a database of `better-sqlite3` or `node:sqlite` that `sqliteStore` uses. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/** The part of a prepared statement that `sqliteStore` uses. */
export interface SqliteStatement {
  get(...values: (string | number | Uint8Array)[]): unknown
  run(...values: (string | number | Uint8Array)[]): { readonly changes: number | bigint }
}

/** Ends the transaction of a database. SQLite has already ended it after some errors. */
export function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // the caller reports the first error
  }
}

/** Whether another process writes. Both clients have other codes. */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  return /^SQLITE_BUSY/.test(String(code)) || (typeof errcode === 'number' && errcode % 256 === SQLITE_BUSY)
}
