import { PlainCounter, plainName } from '@sluice/fleet/backend'
import {
  type Answer,
  type Backend,
  type Charge,
  type ChargePart,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  IDEMPOTENT_MS,
  type Interruption,
  type Moment,
  mergedAnswer,
  type Observer,
  Observers,
  takeParts,
} from '@sluice/limiter-core/backend'
import type { LimitStub } from './calls/limit-namespace.ts'
import type { ObjectRequest } from './calls/object-request.ts'
import { ShardCalls } from './calls/shard-calls.ts'
import type { ShardNames } from './calls/shard-names.ts'
import type { WaitUntil } from './calls/wait-until.ts'

export interface ObjectBackendDeps {
  readonly identity: object
  /** Returns a new stub of the object of a shard. */
  readonly stubOf: (shard: number) => LimitStub
  readonly waitUntil: WaitUntil | undefined
  readonly names: ShardNames
  readonly clock: Clock
  readonly serverTime: (() => number) | undefined
  readonly maxBatch: number
  readonly durable: boolean
}

type Times = Partial<Pick<ObjectRequest, 'takenAt' | 'id' | 'deadlineAt'>>

/** Backend returned by `durableObjectBackend`. */
export class ObjectBackend implements Backend<Promise<Answer>> {
  readonly name = 'durable-object'
  readonly identity: object
  readonly #deps: ObjectBackendDeps
  readonly #shards = new Map<number, ShardCalls>()
  readonly #listeners = new Set<(event: Interruption) => void>()
  readonly #observers: Observers = new Observers()
  readonly #oneShard: ChargePart['backend'] = {
    takeAll: (charges, moment) => this.#request('take', charges, { deadlineAt: moment?.deadlineAt }),
    adjustAll: (charges, takenAt, moment) => this.#adjust(charges, takenAt, moment),
  }

  constructor(deps: ObjectBackendDeps) {
    this.identity = deps.identity
    this.#deps = deps
  }

  open(compiled: CompiledPolicy, name: string): Counter<Promise<Answer>> {
    return new PlainCounter(this, compiled, name)
  }

  async takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    const times = { deadlineAt: moment?.deadlineAt }
    const parts = this.#parts(charges)
    if (parts.length === 1) return this.#request('take', charges, times)
    return takeParts(parts, moment, (part) => this.#request('peek', part.charges, times))
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#each(charges, (part) => this.#request('peek', part, { deadlineAt: moment?.deadlineAt }))
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    return this.#each(charges, (part) => this.#adjust(part, takenAt, moment))
  }

  async resetAll(counted: readonly CountedKey[]): Promise<void> {
    if (counted.length === 0) return
    const charges = counted.map(({ key, counter }) => ({ key, counter, cost: 0 }))
    await this.#each(charges, (part) => this.#request('reset', part, { deadlineAt: this.#lateAt() }))
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer)
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  mayHaveLost({ key }: CountedKey, ageMs: number): boolean {
    return this.#shard(key).server.mayHaveLost(ageMs, this.#deps.clock.now())
  }

  close(): void {
    for (const { server } of this.#shards.values()) server.close()
    this.#listeners.clear()
    this.#observers.clear()
  }

  #adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    // a time in the future or NaN means now, and JSON has no Infinity
    const then = Number.isNaN(takenAt) ? Number.MAX_VALUE : clamped(takenAt)
    const { id = '', issuedAt } = moment?.idempotencyKey ?? {}
    return this.#request('adjust', charges, {
      takenAt: then,
      id: id && plainName(id),
      deadlineAt: this.#lateAt(issuedAt),
    })
  }

  /** Returns the deadline of a command that must not be lost, which does not depend on how long the caller waits. */
  #lateAt(issuedAt: number = this.#deps.clock.now()): number {
    return issuedAt + IDEMPOTENT_MS
  }

  /** Makes one request per shard, and returns the merged answer. */
  async #each(charges: readonly Charge[], request: (part: readonly Charge[]) => Promise<Answer>): Promise<Answer> {
    const parts = this.#parts(charges)
    if (parts.length === 1) return request(charges)
    const answers = await Promise.all(parts.map((part) => request(part.charges)))
    return mergedAnswer(parts, answers)
  }

  /** Sends a request whose charges have one shard. */
  #request(operation: ObjectRequest['operation'], charges: readonly Charge[], times: Times): Promise<Answer> {
    const { names, clock } = this.#deps
    return new Promise((resolve, reject) => {
      this.#shard(charges[0].key).add({
        operation,
        charges,
        names: charges.map((charge) => names.nameOf(charge)),
        takenAt: times.takenAt ?? 0,
        deadlineAt: times.deadlineAt,
        id: times.id ?? '',
        requestedAt: clock.now(),
        resolve,
        reject,
        retried: false,
      })
    })
  }

  /** Groups charges by shard. */
  #parts(charges: readonly Charge[]): ChargePart[] {
    const [{ key: first }] = charges
    if (charges.every(({ key }) => key === first)) {
      return [{ backend: this.#oneShard, indexes: [...charges.keys()], charges }]
    }
    const shards = new Map<number, number[]>()
    for (const [index, { key }] of charges.entries()) {
      const shard = this.#deps.names.shardOf(key)
      shards.set(shard, [...(shards.get(shard) ?? []), index])
    }
    return [...shards.values()].map((indexes) => ({
      backend: this.#oneShard,
      indexes,
      charges: indexes.map((index) => charges[index]),
    }))
  }

  #shard(key: string): ShardCalls {
    const shard = this.#deps.names.shardOf(key)
    let calls = this.#shards.get(shard)
    if (!calls) {
      const { stubOf, waitUntil, clock, serverTime, maxBatch, durable } = this.#deps
      calls = new ShardCalls({
        stub: () => stubOf(shard),
        waitUntil,
        clock,
        serverTime,
        maxBatch,
        durable,
        observers: this.#observers,
        source: this.name,
      })
      calls.server.listen((event) => {
        for (const listener of this.#listeners) listener(event)
      })
      this.#shards.set(shard, calls)
    }
    return calls
  }
}

/** Returns the nearest finite number. */
function clamped(value: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(value, Number.MAX_VALUE))
}
