/**
 * Runs SQL statements: a `Pool` of `pg`, a `PGlite`, or another PostgreSQL client. Each call is its own transaction;
 * several calls may run at once.
 */
export interface SqlRunner {
  /**
   * `values` are the parameters `$1`, `$2` ...: strings, numbers, booleans, null and arrays of them. Rejects if the
   * statement failed.
   */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}
