import type { Clock, SqlRunner } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { SqlLedger } from './sql-ledger.ts'

export interface PostgresLedgerOptions {
  /** Schema of the tables. Default: `sluice`. */
  readonly schema?: string | undefined
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Creates a ledger in PostgreSQL 15 or later. `sql` is a `Pool` of `pg`, or another client with its `query` method; the
 * caller closes it. Call `await ledger.migrate()` to create the tables.
 *
 * Throws `SLUICE_BAD_OPTION`.
 */
export function postgresLedger(sql: SqlRunner, options: PostgresLedgerOptions = {}): SqlLedger {
  const { schema = 'sluice', clock } = optionsOf('postgresLedger', options, ['schema', 'clock'])
  if (typeof sql?.query !== 'function')
    throw badOption('postgresLedger: sql', sql, 'a Pool of pg or another client with a query method')
  return new SqlLedger(sql, { schema, clock: clockOf(clock), end: async () => {} })
}
