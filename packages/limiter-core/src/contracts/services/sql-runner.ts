/**
 * Runs PostgreSQL statements. A `Pool` of `pg` and a `PGlite` implement it. Each call is its own transaction; several
 * calls may run at once.
 */
export interface SqlRunner {
  /**
   * Runs a statement and returns its rows. `values` are the parameters `$1`, `$2` ...: strings, numbers, booleans, null
   * and arrays of them. Rejects if the statement fails.
   */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}
