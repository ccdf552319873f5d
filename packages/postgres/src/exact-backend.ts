import { PlainCounter } from '@sluice/fleet/backend'
import {
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
  type SqlRunner,
} from '@sluice/limiter-core/backend'
import type { PostgresBackend } from './limit-backend.ts'
import { ServerState } from './server/server-state.ts'
import { SqlCalls } from './server/sql-calls.ts'
import { countIdentity } from './tables/count-identity.ts'
import { ExpiredRows } from './tables/expired-rows.ts'
import type { LimitTables } from './tables/limit-tables.ts'
import { plain, type RowNames } from './tables/row-names.ts'
import type { LimitRequest, Operation } from './turns/limit-request.ts'
import { LimitTurns } from './turns/limit-turns.ts'

export interface ExactBackendDeps {
  readonly sql: SqlRunner
  readonly tables: LimitTables
  readonly names: RowNames
  readonly clock: Clock
  readonly serverTime: (() => number) | undefined
  readonly maxBatch: number
  readonly durable: boolean
}

interface RequestTimes {
  readonly takenAt?: number
  readonly id?: string | undefined
  readonly deadlineAt?: number | undefined
}

/** Backend returned by `postgresBackend`. */
export class ExactBackend implements PostgresBackend {
  readonly name = 'postgres'
  readonly identity: object
  readonly #sql: SqlRunner
  readonly #tables: LimitTables
  readonly #names: RowNames
  readonly #clock: Clock
  readonly #server: ServerState
  readonly #turns: LimitTurns
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
    this.#turns = new LimitTurns({
      calls,
      server: this.#server,
      clock,
      observers: this.#observers,
      turn: tables.turn,
      source: this.name,
      maxBatch,
      durable,
    })
  }

  migrate(): Promise<void> {
    return this.#tables.migrate(this.#sql)
  }

  prune(): Promise<void> {
    return this.#expired.prune()
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
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
    const key = moment?.idempotencyKey
    // the deadline does not depend on how long the caller waits, because a refund must not be lost
    const deadlineAt = (key?.issuedAt ?? this.#clock.now()) + IDEMPOTENT_MS
    return this.#request('adjust', charges, { takenAt, id: key && plain(key.id), deadlineAt })
  }

  async resetAll(keys: readonly CountedKey[]): Promise<void> {
    if (keys.length === 0) return
    const charges = keys.map(({ key, counter }) => ({ key, counter, cost: 0 }))
    await this.#request('reset', charges, { deadlineAt: this.#clock.now() + IDEMPOTENT_MS })
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
    this.#server.close()
    this.#observers.clear()
  }

  #request(operation: Operation, charges: readonly Charge[], times: RequestTimes): Promise<Answer> {
    const { takenAt = 0, id, deadlineAt = Number.POSITIVE_INFINITY } = times
    return new Promise((resolve, reject) => {
      const request: LimitRequest = {
        operation,
        charges,
        names: charges.map((charge) => this.#names.nameOf(charge)),
        takenAt,
        id,
        requestedAt: this.#clock.now(),
        deadlineAt,
        resolve,
        reject,
        attempts: 0,
        applied: undefined,
      }
      this.#turns.add(request)
    })
  }
}
