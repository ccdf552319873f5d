import { systemClock } from '@sluice/limiter-core/backend'

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

/** Time after which a statement without an answer closes its connection, far above the deadline of a decision. */
const SILENT_MS = 1_000

/**
 * Runs statements on a connection of the pool. A connection without an answer for a second is closed, because nothing
 * else ends it while the network drops all packets, and such connections would use up the pool. Rejects then, too.
 */
export async function onConnection<T>(pool: MysqlPool, run: (connection: MysqlConnection) => Promise<T>): Promise<T> {
  const connection = await pool.getConnection()
  let isClosed = false
  let cancel = (): void => {}
  const silence = new Promise<never>((_, reject) => {
    cancel = systemClock.after(SILENT_MS, () => {
      isClosed = true
      connection.destroy()
      reject(new Error(`no answer within ${SILENT_MS} ms`))
    })
  })
  try {
    return await Promise.race([run(connection), silence])
  } finally {
    cancel()
    if (!isClosed) connection.release()
  }
}

/** Commits what `run` has written if it resolves to true, and otherwise writes nothing. */
export async function inTransaction(connection: MysqlConnection, run: () => Promise<boolean>): Promise<boolean> {
  try {
    await connection.beginTransaction()
    const isWritten = await run()
    await (isWritten ? connection.commit() : connection.rollback())
    return isWritten
  } catch (error) {
    // a connection that cannot end its transaction is closed
    await connection.rollback().catch(() => connection.destroy())
    throw error
  }
}
