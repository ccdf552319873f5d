import {
  countNameOf,
  doneNamesOf,
  type EntryNames,
  PlainCounter,
  plainName,
  type ServerState,
} from '@sluice/fleet/backend'
import {
  type Answer,
  type Backend,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  IDEMPOTENT_MS,
  type Interruption,
  type Moment,
  type Observer,
  type Observers,
} from '@sluice/limiter-core/backend'
import type { StoreCalls } from '../requests/store-calls.ts'
import { tooManyRows } from '../requests/store-failure.ts'
import type { StoreRequest } from '../requests/store-request.ts'

export interface RowBackendDeps {
  readonly name: string
  readonly identity: object
  readonly calls: StoreCalls
  readonly server: ServerState
  readonly names: EntryNames
  readonly maxRows: number
  readonly clock: Clock
  readonly observers: Observers
}

type Times = Partial<Pick<StoreRequest, 'takenAt' | 'deadlineAt'>> & { readonly id?: string }

/** Backend returned by `storeBackend`. */
export class RowBackend implements Backend<Promise<Answer>> {
  readonly name: string
  readonly identity: object
  readonly #deps: RowBackendDeps
  #requests = 0

  constructor(deps: RowBackendDeps) {
    this.name = deps.name
    this.identity = deps.identity
    this.#deps = deps
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    return new PlainCounter(this, compiled, name)
  }

  takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#request('take', charges, { deadlineAt: moment?.deadlineAt })
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#request('peek', charges, { deadlineAt: moment?.deadlineAt })
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    // a time in the future or NaN means now
    const then = Number.isNaN(takenAt) ? Number.MAX_VALUE : Math.min(takenAt, Number.MAX_VALUE)
    const { id, issuedAt } = moment?.idempotencyKey ?? {}
    return this.#request('adjust', charges, { takenAt: then, deadlineAt: this.#lateAt(issuedAt), ...(id && { id }) })
  }

  async resetAll(counted: readonly CountedKey[]): Promise<void> {
    if (counted.length === 0) return
    const charges = counted.map(({ key, counter }) => ({ key, counter, cost: 0 }))
    await this.#request('reset', charges, { deadlineAt: this.#lateAt() })
  }

  observe(observer: Observer): () => void {
    return this.#deps.observers.add(observer)
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    return this.#deps.server.listen(listener)
  }

  mayHaveLost(_: CountedKey, ageMs: number): boolean {
    return this.#deps.server.mayHaveLost(ageMs, this.#deps.clock.now())
  }

  close(): void {
    this.#deps.server.close()
    this.#deps.observers.clear()
  }

  /** Returns the deadline of a command that must not be lost, which does not depend on how long the caller waits. */
  #lateAt(issuedAt: number = this.#deps.clock.now()): number {
    return issuedAt + IDEMPOTENT_MS
  }

  #request(operation: StoreRequest['operation'], charges: readonly Charge[], times: Times): Promise<Answer> {
    const { calls, clock, maxRows, names: entries } = this.#deps
    const names = charges.map((charge) => countNameOf(entries.nameOf(charge)))
    const doneNames = times.id === undefined ? undefined : doneNamesOf(names, plainName(times.id))
    const rows = [...new Set([...names, ...(doneNames ?? [])])]
    if (rows.length > maxRows) return Promise.reject(tooManyRows(rows.length, maxRows))
    return new Promise((resolve, reject) => {
      calls.add({
        operation,
        charges,
        names,
        doneNames,
        rows,
        takenAt: times.takenAt ?? 0,
        deadlineAt: times.deadlineAt,
        requestedAt: clock.now(),
        position: this.#requests++,
        conflicts: 0,
        resolve,
        reject,
        retried: false,
      })
    })
  }
}
