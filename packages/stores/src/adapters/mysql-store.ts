import type { Change, Row, RowStore, RowWriteOptions } from '@sluice/fleet/backend'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import {
  inTransaction,
  isConflict,
  type MysqlConnection,
  type MysqlPool,
  type MysqlValue,
  onConnection,
} from './mysql-pool.ts'
import { isTableName, newVersion } from './row-table.ts'

export interface MysqlStoreOptions {
  /** Name of the table: 1 to 64 letters, digits and underscores. Default: `sluice_rows`. */
  readonly table?: string | undefined
}

/** Store returned by `mysqlStore`. */
export interface MysqlStore extends RowStore {
  /** Creates the table unless it exists. */
  migrate(): Promise<void>
}

/** Number of writes after which expired rows are deleted. */
const SWEEP_WRITES = 100
/** Most rows of a deletion, more than the writes before it can have created. */
const SWEPT_ROWS = 1_000
/** Time of the server in epoch ms, independent of the time zone of the session. */
const NOW = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000)"

/**
 * Creates a store in a table of MySQL 8 or MariaDB 10.6 or later. `pool` is a pool of `mysql2/promise`, which the caller
 * closes. Call `await store.migrate()` to create the table. Counts use the server's clock. Throws `SLUICE_BAD_OPTION`.
 */
export function mysqlStore(pool: MysqlPool, options: MysqlStoreOptions = {}): MysqlStore {
  const { table = 'sluice_rows' } = optionsOf('mysqlStore', options, ['table'])
  // a pool of `mysql2` has the same methods, which do not return promises
  if (typeof pool?.query !== 'function' || typeof pool.getConnection !== 'function' || 'promise' in pool) {
    throw badOption('mysqlStore: pool', pool, 'a pool of mysql2/promise')
  }
  if (!isTableName(table)) {
    throw badOption('mysqlStore: table', table, '1 to 64 letters, digits and underscores')
  }
  return new TableStore(pool, table)
}

class TableStore implements MysqlStore {
  readonly #pool: MysqlPool
  readonly #table: string
  #writes = 0

  constructor(pool: MysqlPool, table: string) {
    this.#pool = pool
    this.#table = table
  }

  async migrate(): Promise<void> {
    await this.#pool.query(`CREATE TABLE IF NOT EXISTS ${this.#table} (id VARBINARY(1024) PRIMARY KEY,
      cells MEDIUMBLOB NOT NULL, version BIGINT NOT NULL, ends DOUBLE NOT NULL, INDEX (ends)) ENGINE = InnoDB`)
  }

  async now(): Promise<number> {
    const rows = await this.#query(`SELECT ${NOW} + 0E0 AS now`)
    return Number((rows as readonly { now: unknown }[])[0].now)
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    if (keys.length === 0) return []
    const sql = `SELECT id, cells, version FROM ${this.#table} WHERE id IN (?) AND ends > ${NOW}`
    const rows = await this.#query(sql, [keys.map(bytesOf)])
    const found = new Map((rows as readonly (Row & { id: Buffer })[]).map((row) => [row.id.toString(), row]))
    return keys.map((key) => {
      const row = found.get(key)
      return row && { cells: row.cells, version: row.version }
    })
  }

  async write(changes: readonly Change[], { ttlMs }: RowWriteOptions): Promise<boolean> {
    if (++this.#writes % SWEEP_WRITES === 0) void this.#sweep()
    try {
      const [only, ...others] = changes
      if (!only) return true
      return await onConnection(this.#pool, (connection) => {
        if (others.length === 0) return isWritten(connection, this.#table, only, ttlMs)
        return inTransaction(connection, async () => {
          // in one order in all processes, so that two transactions do not wait for each other
          const sorted = changes.toSorted((one, other) => (one.key < other.key ? -1 : 1))
          for (const change of sorted) if (!(await isWritten(connection, this.#table, change, ttlMs))) return false
          return true
        })
      })
    } catch (error) {
      if (isConflict(error)) return false
      throw error
    }
  }

  async #sweep(): Promise<void> {
    const sql = `DELETE FROM ${this.#table} WHERE ends <= ${NOW} ORDER BY ends LIMIT ${SWEPT_ROWS}`
    // rows that are not deleted now are deleted later
    await this.#query(sql).catch(() => {})
  }

  async #query(sql: string, values?: MysqlValue[]): Promise<unknown> {
    const [rows] = await onConnection(this.#pool, (connection) => connection.query(sql, values))
    return rows
  }
}

async function isWritten(
  connection: MysqlConnection,
  table: string,
  { key, cells, version }: Change,
  ttlMs: number,
): Promise<boolean> {
  const values = [Buffer.from(cells), newVersion(), ttlMs, bytesOf(key)]
  const put = `cells = ?, version = ?, ends = ${NOW} + ?`
  const replace = `UPDATE ${table} SET ${put} WHERE id = ? AND ends`
  if (version !== undefined)
    return changed(await connection.query(`${replace} > ${NOW} AND version = ?`, [...values, version]))
  const created = await connection.query(`INSERT IGNORE INTO ${table} SET ${put}, id = ?`, values)
  return changed(created) || changed(await connection.query(`${replace} <= ${NOW}`, values))
}

function changed([result]: readonly [unknown, ...unknown[]]): boolean {
  return (result as { readonly affectedRows: number }).affectedRows === 1
}

function bytesOf(key: string): Buffer {
  return Buffer.from(key)
}
