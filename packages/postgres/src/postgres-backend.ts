import {
  badOption,
  type Clock,
  clockOf,
  integerFrom,
  optionalFunction,
  optionsOf,
  type SqlRunner,
} from '@sluice/limiter-core/backend'
import { ExactBackend } from './exact-backend.ts'
import type { PostgresBackend } from './limit-backend.ts'
import { LimitTables } from './tables/limit-tables.ts'
import { RowNames } from './tables/row-names.ts'

export interface PostgresBackendOptions {
  /** Schema of the tables. Must be the same in all processes of a fleet. Default: `sluice`. */
  readonly schema?: string | undefined
  /**
   * Whether a decision waits until its count is on the disk of the server. If false, a crash of the server loses the
   * counts of up to 0.6 seconds (three times its `wal_writer_delay`). Default: false.
   */
  readonly durable?: boolean | undefined
  /**
   * Secret of the fleet, at least 16 bytes: all client keys are then stored as HMACs under this secret. Default: keys of
   * up to 64 printable ASCII characters are stored as they are, and other keys as hashes.
   */
  readonly secret?: string | Uint8Array | undefined
  /** Maximum number of charges per statement, from 1 to 1,000. A request with more is sent alone. Default: 64. */
  readonly maxBatch?: number | undefined
  /** Process clock, used for deadlines and time-outs; counts use the server's clock. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
  /**
   * Clock in ms that replaces the server's clock in tests. Rows are then kept ten minutes longer, and the server does
   * not check deadlines. Default: the server's clock.
   */
  readonly serverTime?: (() => number) | undefined
}

const OPTIONS = ['schema', 'durable', 'secret', 'maxBatch', 'clock', 'serverTime'] as const
const DEFAULT_MAX_BATCH = 64
const MAX_MAX_BATCH = 1_000

/**
 * Creates a backend that counts exactly in PostgreSQL 15 or later: all processes together admit as much as one process
 * would. Each request needs one statement for all its policies, and requests in the same turn of the event loop share a
 * statement. Counts use the server's clock.
 *
 * `pool` is a `Pool` of `pg`, or another client with its `query` method, such as a `PGlite`. The caller closes it. Call
 * `await backend.migrate()` to create the tables. Calls reject with a `PostgresFailure`.
 *
 * Throws `SLUICE_BAD_OPTION`. `open` throws `SLUICE_BAD_POLICY` for an algorithm that the database does not have.
 */
export function postgresBackend(pool: SqlRunner, options: PostgresBackendOptions = {}): PostgresBackend {
  const given = optionsOf('postgresBackend', options, OPTIONS)
  const { schema = 'sluice', durable = false, secret, maxBatch = DEFAULT_MAX_BATCH, clock, serverTime } = given
  if (typeof pool?.query !== 'function')
    throw badOption('postgresBackend: pool', pool, 'a Pool of pg or another client with a query method')
  if (typeof durable !== 'boolean') throw badOption('postgresBackend: durable', durable, 'true or false')
  integerFrom('postgresBackend: maxBatch', maxBatch, 1, MAX_MAX_BATCH)
  optionalFunction('postgresBackend: serverTime', serverTime)
  const tables = new LimitTables(schema)
  const names = new RowNames(secret)
  return new ExactBackend({ sql: pool, tables, names, clock: clockOf(clock), serverTime, maxBatch, durable })
}
