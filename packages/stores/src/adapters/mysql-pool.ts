/** A value of a statement. */
export type MysqlValue = string | number | bigint | Uint8Array | Uint8Array[]

/** The part of a connection of `mysql2/promise` that `mysqlStore` uses. */
export interface MysqlConnection {
  query(sql: string, values?: MysqlValue[]): Promise<readonly [unknown, ...unknown[]]>
  beginTransaction(): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  release(): void
  destroy(): void
}

/** The part of a pool of `mysql2/promise` that `mysqlStore` uses. */
export interface MysqlPool {
  query(sql: string, values?: MysqlValue[]): Promise<readonly [unknown, ...unknown[]]>
  getConnection(): Promise<MysqlConnection>
}

/** Numbers of the errors for a deadlock, for a lock that was not free, and for a key that exists. */
const CONFLICTS: readonly unknown[] = [1213, 1205, 3572, 1062]

/** Whether another transaction was in the way of a write, which had no effect. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes((error as { readonly errno?: unknown } | undefined)?.errno)
}

/**
 * Commits what `run` has written if it resolves to true, and otherwise writes nothing. A connection that cannot end its
 * transaction is closed.
 */
export async function inTransaction(
  pool: MysqlPool,
  run: (connection: MysqlConnection) => Promise<boolean>,
): Promise<boolean> {
  const connection = await pool.getConnection()
  try {
    await connection.beginTransaction()
    const isWritten = await run(connection)
    await (isWritten ? connection.commit() : connection.rollback())
    connection.release()
    return isWritten
  } catch (error) {
    await connection.rollback().then(
      () => connection.release(),
      () => connection.destroy(),
    )
    throw error
  }
}
