/**
 * Runs a statement of SQL where the data is: the `Pool` of `pg`, a `PGlite`, or what speaks to PostgreSQL otherwise. Each
 * call is a transaction of its own; several may be under way at once.
 */
export interface SqlRunner {
  /** `values` are those of `$1`, `$2` …: texts, numbers, booleans, null, and arrays of them. Rejects where it failed. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}
