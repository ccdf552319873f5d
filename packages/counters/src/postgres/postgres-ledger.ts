import type { Clock, SqlRunner } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { SqlLedger } from './sql-ledger.ts'

export interface PostgresLedgerOptions {
  /** The schema of its tables. Default: `sluice`. */
  readonly schema?: string | undefined
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Keeps counters in PostgreSQL 15 or later. `sql`: a `Pool` of `pg`, which stays open and is yours to end, or anything
 * else with its `query`. `await ledger.migrate()` makes the tables.
 *
 * Throws `SLUICE_BAD_OPTION`.
 */
export function postgresLedger(sql: SqlRunner, options: PostgresLedgerOptions = {}): SqlLedger {
  const { schema = 'sluice', clock } = optionsOf('postgresLedger', options, ['schema', 'clock'])
  if (typeof sql?.query !== 'function') throw badOption('postgresLedger: sql', sql, 'a Pool of pg')
  return new SqlLedger(sql, { schema, clock: clockOf(clock), end: async () => {} })
}
