import type { Answer, Backend } from '@sluice/limiter-core'

/** Backend returned by `postgresBackend`. */
export interface PostgresBackend extends Backend<Promise<Answer>> {
  /**
   * Creates the tables and the functions of this release; does nothing if they exist. Several processes may call it at
   * once, while others count. It needs the right to create a schema; counting only needs `usage` of the schema, `execute` on its functions,
   * and `select, insert, update, delete` on its tables. Rejects with the error of the client.
   */
  migrate(): Promise<void>
  /** Deletes expired rows, at most 1,000 per statement. Runs automatically while the backend is used. */
  prune(): Promise<void>
}
