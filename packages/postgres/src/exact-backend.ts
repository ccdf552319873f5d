import { RemoteBackend, RemoteCalls, type RemoteRequest, ServerState } from '@sluice/fleet/backend'
import {
  type AlgorithmName,
  type Answer,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type Counter,
  type Moment,
  Observers,
  SluiceError,
  type SqlRunner,
} from '@sluice/limiter-core/backend'
import { ALGORITHMS } from './functions/kinds.ts'
import type { PostgresBackend } from './limit-backend.ts'
import { SqlTransport } from './requests/sql-transport.ts'
import { PoolErrors } from './server/pool-errors.ts'
import { SqlCalls } from './server/sql-calls.ts'
import { countIdentity } from './tables/count-identity.ts'
import { ExpiredRows } from './tables/expired-rows.ts'
import type { LimitTables } from './tables/limit-tables.ts'
import type { RowNames } from './tables/row-names.ts'

export interface ExactBackendDeps {
  readonly sql: SqlRunner
  readonly tables: LimitTables
  readonly names: RowNames
  readonly clock: Clock
  readonly serverTime: (() => number) | undefined
  readonly maxBatch: number
  readonly durable: boolean
}

/** Statements under way at once. */
const MOST_STATEMENTS = 4

/** Backend returned by `postgresBackend`. */
export class ExactBackend extends RemoteBackend implements PostgresBackend {
  readonly keepsHolds = true
  readonly algorithms: readonly AlgorithmName[] = ALGORITHMS
  readonly #sql: SqlRunner
  readonly #tables: LimitTables
  readonly #expired: ExpiredRows

  constructor({ sql, tables, names, clock, serverTime, maxBatch, durable }: ExactBackendDeps) {
    const name = 'postgres'
    const { schema } = tables
    const server = new ServerState(clock, serverTime)
    const observers = new Observers()
    const calls = new SqlCalls(sql, clock)
    const transport = new SqlTransport({ calls, server, clock, schema, durable, source: name })
    const requests = new RemoteCalls<RemoteRequest>({
      transport,
      clock,
      observers,
      maxBatch,
      maxCalls: MOST_STATEMENTS,
    })
    const stopWatching = PoolErrors.of(sql).add(() => server.failed())
    super({
      name,
      identity: countIdentity(sql, schema),
      clock,
      observers,
      nameOf: (counted) => names.nameOf(counted),
      send: (request) => requests.add(request),
      interrupted: (listener) => server.listen(listener),
      mayHaveLost: (_, ageMs) => server.mayHaveLost(ageMs),
      close: () => {
        stopWatching()
        server.close()
      },
    })
    this.#sql = sql
    this.#tables = tables
    this.#expired = new ExpiredRows(calls, tables, clock)
  }

  migrate(): Promise<void> {
    return this.#tables.migrate(this.#sql)
  }

  prune(): Promise<void> {
    return this.#expired.prune()
  }

  override open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    const { policy, variants = [] } = compiled
    const unknown = [policy, ...variants.map((variant) => variant.compiled.policy)].find(
      ({ algorithm }) => !ALGORITHMS.includes(algorithm),
    )
    if (unknown) {
      const expected = `one of ${ALGORITHMS.join(', ')} on PostgreSQL`
      const message = `policy '${policy.name}': algorithm: expected ${expected}, received ${unknown.algorithm}`
      throw new SluiceError('SLUICE_BAD_POLICY', message)
    }
    return super.open(compiled, name)
  }

  override takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    this.#expired.pruneSometimes()
    return super.takeAll(charges, moment)
  }
}
