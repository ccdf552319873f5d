import {
  type Answer,
  type Backend,
  type Charge,
  type ChargePart,
  type Clock,
  type Decision,
  forgetsMs,
  IDEMPOTENT_MS,
  type Interruption,
  type Moment,
  mergedAnswer,
  newIdempotencyKey,
  type Observer,
  Observers,
  type ScriptRunner,
  type Step,
  takeTogether,
} from '@sluice/limiter-core'
import { exactForm } from './batch-call.ts'
import { countIdentity } from './count-identity.ts'
import type { EntityKeys } from './entity-key.ts'
import { ExactCalls } from './exact-calls.ts'
import { hashSlot } from './hash-slot.ts'
import type { KnownServers } from './known-servers.ts'
import type { Operation } from './script-request.ts'

export interface ExactDeps {
  readonly runner: ScriptRunner
  readonly servers: KnownServers
  readonly keys: EntityKeys
  readonly maxBatch: number
  readonly clock: Clock
}

/** Until when an ask may arrive, and of what is to be done once its id. */
interface AskTimes {
  readonly deadlineAt?: number | undefined
  readonly id?: string
}

/** What `redisBackend` makes. */
export class ExactBackend implements Backend<Promise<Answer>> {
  readonly name = 'redis'
  readonly identity: object
  readonly #clock: Clock
  readonly #runner: ScriptRunner
  readonly #calls: ExactCalls
  readonly #keys: EntityKeys
  readonly #servers: KnownServers
  readonly #observers: Observers = new Observers()
  readonly #oneSlot: ChargePart['backend'] = {
    take: (charges, moment) => this.#ask('take', charges, 0, moment),
    adjust: (charges, takenAt, moment) => this.#ask('adjust', charges, takenAt, this.#once(moment)),
  }

  constructor({ runner, servers, keys, maxBatch, clock }: ExactDeps) {
    this.identity = countIdentity(runner, keys.prefix)
    this.#clock = clock
    this.#runner = runner
    this.#servers = servers
    const observers = this.#observers
    this.#calls = new ExactCalls({ runner, clock, servers, form: exactForm, source: this.name, maxBatch, observers })
    this.#keys = keys
  }

  async take(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    if (this.#inOneSlot(charges)) return this.#ask('take', charges, 0, moment)
    const parts = this.#parts(charges)
    if (parts.length === 1) return this.#ask('take', charges, 0, moment)
    return takeTogether(parts, moment, (part) => this.#ask('peek', part.charges, 0, moment))
  }

  takeOne(key: string, step: Step, count: string, cost: number, moment?: Moment): Promise<Decision> {
    const charge = { key, step, count, cost }
    return this.#calls.takeOne(charge, this.#keys.nameOfCells(charge), moment?.deadlineAt)
  }

  peek(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#askEach('peek', charges, 0, moment)
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    // a later instant, or none at all, means now
    const then = Number.isNaN(takenAt) ? Number.MAX_VALUE : Math.min(takenAt, Number.MAX_VALUE)
    return this.#askEach('adjust', charges, then, this.#once(moment))
  }

  async reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): Promise<void> {
    const names = targets.map((target) => this.#keys.nameOfCells(target))
    const { id, deadlineAt } = this.#once()
    const calls = this.#bySlot(names).map((indexes) => {
      const keys = indexes.map((index) => names[index])
      const lives = indexes.map((index) => forgetsMs(targets[index].step))
      return this.#calls.reset(keys, lives, id, deadlineAt)
    })
    await Promise.all(calls)
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer)
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    return this.#runner.interrupted?.((event) => listener(event)) ?? (() => {})
  }

  mayHaveLost(target: Pick<Charge, 'key' | 'step' | 'count'>, ageMs: number): boolean {
    return this.#servers.telling.mayHaveLost(this.#keys.nameOfCells(target), ageMs)
  }

  close(): void {
    this.#servers.close()
    this.#observers.clear()
  }

  async #askEach(
    operation: 'peek' | 'adjust',
    charges: readonly Charge[],
    takenAt: number,
    times: AskTimes | undefined,
  ): Promise<Answer> {
    const parts = this.#parts(charges)
    if (parts.length === 1) return this.#ask(operation, charges, takenAt, times)
    const answers = await Promise.all(parts.map((part) => this.#ask(operation, part.charges, takenAt, times)))
    return mergedAnswer(parts, answers)
  }

  /** What must arrive also where nobody waits for it, and not twice. */
  #once(moment?: Moment): { readonly id: string; readonly deadlineAt: number } {
    const { id, issuedAt } = moment?.idempotencyKey ?? newIdempotencyKey(this.#clock.now())
    return { id, deadlineAt: issuedAt + IDEMPOTENT_MS }
  }

  #ask(operation: Operation, charges: readonly Charge[], takenAt: number, times?: AskTimes): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const names = charges.map((charge) => this.#keys.nameOfCells(charge))
      const { id = '', deadlineAt } = times ?? {}
      this.#calls.add({
        operation,
        charges,
        names,
        takenAt,
        deadlineAt,
        id,
        askedAt: this.#clock.now(),
        told: undefined,
        flat: false,
        resolve,
        reject,
        retried: false,
      })
    })
  }

  #inOneSlot(charges: readonly Charge[]): boolean {
    return !this.#runner.clustered || charges.every(({ key }) => key === charges[0].key)
  }

  /** The charges by slot; all of them are one part where there are no slots, or all have one key. */
  #parts(charges: readonly Charge[]): ChargePart[] {
    if (this.#inOneSlot(charges)) return [{ backend: this.#oneSlot, indexes: [...charges.keys()], charges }]
    const slots = this.#bySlot(charges.map((charge) => this.#keys.nameOfCells(charge)))
    return slots.map((at) => ({ backend: this.#oneSlot, indexes: at, charges: at.map((index) => charges[index]) }))
  }

  /** The indexes of names that lie in one slot, for each slot. */
  #bySlot(names: readonly string[]): number[][] {
    const slots = new Map<number, number[]>()
    for (const [index, name] of names.entries()) {
      const slot = this.#runner.clustered ? hashSlot(name) : 0
      slots.set(slot, [...(slots.get(slot) ?? []), index])
    }
    return [...slots.values()]
  }
}
