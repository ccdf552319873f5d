import { PlainCounter, ServerState } from '@sluice/fleet/backend'
import {
  type AlgorithmName,
  type Answer,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  IDEMPOTENT_MS,
  type Interruption,
  type Moment,
  type Observer,
  Observers,
  retentionMs,
  SluiceError,
  type SqlRunner,
} from '@sluice/limiter-core/backend'
import { ALGORITHMS } from './functions/kinds.ts'
import type { PostgresBackend } from './limit-backend.ts'
import { ExactCalls } from './requests/exact-calls.ts'
import type { LimitRequest } from './requests/limit-request.ts'
import { PoolErrors } from './server/pool-errors.ts'
import { SqlCalls } from './server/sql-calls.ts'
import { countIdentity } from './tables/count-identity.ts'
import { ExpiredRows } from './tables/expired-rows.ts'
import type { LimitTables } from './tables/limit-tables.ts'
import { plain, type RowNames } from './tables/row-names.ts'

export interface ExactBackendDeps {
  readonly sql: SqlRunner
  readonly tables: LimitTables
  readonly names: RowNames
  readonly clock: Clock
  readonly serverTime: (() => number) | undefined
  readonly maxBatch: number
  readonly durable: boolean
}

/** Backend returned by `postgresBackend`. */
export class ExactBackend implements PostgresBackend {
  readonly name = 'postgres'
  readonly keepsHolds = true
  readonly algorithms: readonly AlgorithmName[] = ALGORITHMS
  readonly identity: object
  readonly #sql: SqlRunner
  readonly #tables: LimitTables
  readonly #names: RowNames
  readonly #clock: Clock
  readonly #server: ServerState
  readonly #calls: ExactCalls
  readonly #stopWatching: () => void
  readonly #expired: ExpiredRows
  readonly #observers: Observers = new Observers()

  constructor({ sql, tables, names, clock, serverTime, maxBatch, durable }: ExactBackendDeps) {
    this.identity = countIdentity(sql, tables.schema)
    this.#sql = sql
    this.#tables = tables
    this.#names = names
    this.#clock = clock
    this.#server = new ServerState(serverTime)
    const calls = new SqlCalls(sql, clock)
    this.#expired = new ExpiredRows(calls, tables, clock)
    this.#stopWatching = PoolErrors.of(sql).add(() => this.#server.failed())
    this.#calls = new ExactCalls({
      calls,
      server: this.#server,
      clock,
      schema: tables.schema,
      maxBatch,
      durable,
      observers: this.#observers,
      source: this.name,
    })
  }

  migrate(): Promise<void> {
    return this.#tables.migrate(this.#sql)
  }

  prune(): Promise<void> {
    return this.#expired.prune()
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    const { policy, variants = [] } = compiled
    const unknown = [policy, ...variants.map((variant) => variant.compiled.policy)].find(
      ({ algorithm }) => !ALGORITHMS.includes(algorithm),
    )
    if (unknown) {
      const expected = `one of ${ALGORITHMS.join(', ')} on PostgreSQL`
      const message = `policy '${policy.name}': algorithm: expected ${expected}, received ${unknown.algorithm}`
      throw new SluiceError('SLUICE_BAD_POLICY', message)
    }
    return new PlainCounter(this, compiled, name)
  }

  takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    this.#expired.pruneSometimes()
    return this.#request('take', charges, { deadlineAt: moment?.deadlineAt })
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#request('peek', charges, { deadlineAt: moment?.deadlineAt })
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    // a time in the future or NaN means now
    const then = Number.isNaN(takenAt) ? Number.MAX_VALUE : Math.min(takenAt, Number.MAX_VALUE)
    const { id = '', issuedAt } = moment?.idempotencyKey ?? {}
    return this.#request('adjust', charges, { takenAt: then, id: id && plain(id), deadlineAt: this.#lateAt(issuedAt) })
  }

  async resetAll(counted: readonly CountedKey[]): Promise<void> {
    if (counted.length === 0) return
    // the cost is the time for which earlier usage of the key may be reported
    const charges = counted.map(({ key, counter }) => ({ key, counter, cost: lifeOf(counter.compiled) }))
    await this.#request('reset', charges, { deadlineAt: this.#lateAt() })
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer)
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    return this.#server.listen(listener)
  }

  mayHaveLost(_: CountedKey, ageMs: number): boolean {
    return this.#server.mayHaveLost(ageMs, this.#clock.now())
  }

  close(): void {
    this.#stopWatching()
    this.#server.close()
    this.#observers.clear()
  }

  /** Returns the deadline of a command that must not be lost, which does not depend on how long the caller waits. */
  #lateAt(issuedAt: number = this.#clock.now()): number {
    return issuedAt + IDEMPOTENT_MS
  }

  #request(
    operation: LimitRequest['operation'],
    charges: readonly Charge[],
    times: Partial<Pick<LimitRequest, 'takenAt' | 'id' | 'deadlineAt'>>,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#calls.add({
        operation,
        charges,
        keys: charges.map((charge) => this.#names.nameOf(charge)),
        takenAt: times.takenAt ?? 0,
        deadlineAt: times.deadlineAt,
        id: times.id ?? '',
        requestedAt: this.#clock.now(),
        resolve,
        reject,
        retried: false,
      })
    })
  }
}

function lifeOf(compiled: CompiledPolicy): number {
  return Math.min(Math.ceil(retentionMs(compiled)), Number.MAX_SAFE_INTEGER)
}
