const TABLE = /^[A-Za-z_]\w{0,63}$/

/** Whether a value can be the name of a table, without quotes. */
export function isTableName(value: unknown): value is string {
  return typeof value === 'string' && TABLE.test(value)
}

/** Returns the statement that creates a table of rows in SQLite unless it exists. */
export function creationOf(table: string): string {
  // cells may be null, because a client may bind an empty blob as null
  return `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, cells BLOB, version INTEGER NOT NULL,
    expires_at REAL NOT NULL) WITHOUT ROWID`
}

/** Returns the query of the next rows behind a key, for the parameters key and number of rows. */
export function partOf(table: string): string {
  return `SELECT key, expires_at FROM ${table} WHERE key > ? ORDER BY key LIMIT ?`
}

/** Returns a new version of a row. It is random, so that it does not repeat after a row has expired. */
export function newVersion(): number {
  return Math.floor(Math.random() * 2 ** 52)
}
