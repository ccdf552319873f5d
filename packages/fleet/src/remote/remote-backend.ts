import {
  type Answer,
  type Backend,
  type Charge,
  type ChargePart,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  type Interruption,
  type Moment,
  mergedAnswer,
  newIdempotencyKey,
  type Observer,
  type Observers,
  takeParts,
} from '@sluice/limiter-core/backend'
import { PlainCounter } from '../backend/plain-counter.ts'
import { plainName } from './entry-names.ts'
import { lastSentAt, type RemoteRequest } from './remote-request.ts'

/** What a server adds to `RemoteBackend`. */
export interface RemoteBackendDeps {
  readonly name: string
  readonly identity: object
  readonly clock: Clock
  readonly observers: Observers
  /** Returns the name of the stored count of a key. */
  readonly nameOf: (counted: CountedKey) => string
  /** Returns the group of a key; one request never has keys of several groups. Default: all keys are in one group. */
  readonly groupOf?: ((counted: CountedKey) => number) | undefined
  /** Whether the client may send a command twice, so that every command that changes counts needs an id. Default: false. */
  readonly needsIds?: boolean | undefined
  /** Sends a request and settles it. */
  readonly send: (request: RemoteRequest) => void
  /** Reports when the server is lost and when it has recovered. Returns a function that unsubscribes. */
  readonly interrupted: (listener: (event: Interruption) => void) => () => void
  readonly mayHaveLost: (counted: CountedKey, ageMs: number) => boolean
  readonly close: () => void
}

type Times = Pick<RemoteRequest, 'takenAt' | 'deadlineAt' | 'id'>

/** Backend whose requests are decided by a server. */
export class RemoteBackend implements Backend<Promise<Answer>> {
  readonly name: string
  readonly identity: object
  readonly #deps: RemoteBackendDeps
  readonly #oneGroup: ChargePart['backend'] = {
    takeAll: (charges, moment) => this.#request('take', charges, timesOf(moment)),
    adjustAll: (charges, takenAt, moment) => this.#request('adjust', charges, this.#once(takenAt, moment)),
  }

  constructor(deps: RemoteBackendDeps) {
    this.name = deps.name
    this.identity = deps.identity
    this.#deps = deps
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    return new PlainCounter(this, compiled, name)
  }

  async takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    const times = timesOf(moment)
    const parts = this.#parts(charges)
    if (!parts) return this.#request('take', charges, times)
    return takeParts(parts, moment, (part) => this.#request('peek', part.charges, times))
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#each('peek', charges, timesOf(moment))
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    return this.#each('adjust', charges, this.#once(takenAt, moment))
  }

  async resetAll(counted: readonly CountedKey[]): Promise<void> {
    if (counted.length === 0) return
    const charges = counted.map(({ key, counter }) => ({ key, counter, cost: 0 }))
    const parts = this.#parts(charges)?.map((part) => part.charges) ?? [charges]
    const times = this.#once(0)
    await Promise.all(parts.map((part) => this.#request('reset', part, times)))
  }

  observe(observer: Observer): () => void {
    return this.#deps.observers.add(observer)
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    return this.#deps.interrupted(listener)
  }

  mayHaveLost(counted: CountedKey, ageMs: number): boolean {
    return this.#deps.mayHaveLost(counted, ageMs)
  }

  close(): void {
    this.#deps.close()
    this.#deps.observers.clear()
  }

  /** Returns the times of a command that must be applied, and applied once. */
  #once(takenAt: number, moment?: Moment): Times {
    const { clock, needsIds = false } = this.#deps
    const key = moment?.idempotencyKey ?? (needsIds ? newIdempotencyKey(clock.now()) : undefined)
    return {
      takenAt: finite(takenAt),
      id: key ? plainName(key.id) : '',
      deadlineAt: lastSentAt(key?.issuedAt ?? clock.now()),
    }
  }

  /** Makes one request per group, and returns the merged answer. */
  async #each(operation: 'peek' | 'adjust', charges: readonly Charge[], times: Times): Promise<Answer> {
    const parts = this.#parts(charges)
    if (!parts) return this.#request(operation, charges, times)
    const answers = await Promise.all(parts.map((part) => this.#request(operation, part.charges, times)))
    return mergedAnswer(parts, answers)
  }

  #request(operation: RemoteRequest['operation'], charges: readonly Charge[], times: Times): Promise<Answer> {
    const { nameOf, clock, send } = this.#deps
    return new Promise((resolve, reject) => {
      send({
        operation,
        charges,
        names: charges.map(nameOf),
        takenAt: times.takenAt,
        deadlineAt: times.deadlineAt,
        id: times.id,
        requestedAt: clock.now(),
        resolve,
        reject,
        retried: false,
      })
    })
  }

  /** Groups charges; undefined if all are in one group, for example because they have the same key. */
  #parts(charges: readonly Charge[]): ChargePart[] | undefined {
    const { groupOf } = this.#deps
    if (!groupOf || charges.every(({ key }) => key === charges[0].key)) return undefined
    const first = groupOf(charges[0])
    if (charges.every((charge) => groupOf(charge) === first)) return undefined
    const groups = new Map<number, number[]>()
    for (const [index, charge] of charges.entries()) {
      const group = groupOf(charge)
      groups.set(group, [...(groups.get(group) ?? []), index])
    }
    return Array.from(groups.values(), (indexes) => ({
      backend: this.#oneGroup,
      indexes,
      charges: indexes.map((index) => charges[index]),
    }))
  }
}

function timesOf(moment: Moment | undefined): Times {
  return { takenAt: 0, id: '', deadlineAt: moment?.deadlineAt }
}

/** Returns the nearest finite number, as JSON has no Infinity. A time in the future or NaN means now. */
function finite(time: number): number {
  return Number.isNaN(time) ? Number.MAX_VALUE : Math.max(-Number.MAX_VALUE, Math.min(time, Number.MAX_VALUE))
}
