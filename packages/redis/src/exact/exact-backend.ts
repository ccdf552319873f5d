import {
  type Answer,
  type Backend,
  type Charge,
  type ChargePart,
  ChargeVerdict,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Decision,
  IDEMPOTENT_MS,
  type Interruption,
  type Moment,
  mergedAnswer,
  newIdempotencyKey,
  type Observer,
  Observers,
  retentionMs,
  type ScriptRunner,
  type SoleDecision,
  takeParts,
} from '@sluice/limiter-core/backend'
import { countIdentity } from '../client/count-identity.ts'
import type { EntityKeys } from '../client/entity-key.ts'
import { hashSlot } from '../client/hash-slot.ts'
import { nativePolicy } from '../lua/native-policy.ts'
import type { ServerState } from '../server-time/known-servers.ts'
import { exactForm } from './batch-call.ts'
import { ExactCalls } from './exact-calls.ts'
import { ExactCounter } from './exact-counter.ts'
import type { Operation } from './script-request.ts'

export interface ExactDeps {
  readonly runner: ScriptRunner
  readonly servers: ServerState
  readonly keys: EntityKeys
  readonly maxBatch: number
  readonly clock: Clock
  /** Default: false. */
  readonly nativeCommands?: boolean
}

/** Deadline of a request, and its idempotency id if it must not be applied twice. */
interface RequestTimes {
  readonly deadlineAt?: number | undefined
  readonly id?: string
}

/** Backend returned by `redisBackend`. */
export class ExactBackend implements Backend<Promise<Answer>> {
  readonly name = 'redis'
  readonly keepsHolds = true
  readonly booksTurns = true
  readonly identity: object
  readonly #clock: Clock
  readonly #runner: ScriptRunner
  readonly #calls: ExactCalls
  readonly #keys: EntityKeys
  readonly #servers: ServerState
  readonly #nativeCommands: boolean
  readonly #observers: Observers = new Observers()
  readonly #oneSlot: ChargePart['backend'] = {
    takeAll: (charges, moment) => this.#request('take', charges, 0, moment),
    adjustAll: (charges, takenAt, moment) => this.#request('adjust', charges, takenAt, this.#once(moment)),
  }

  constructor({ runner, servers, keys, maxBatch, clock, nativeCommands = false }: ExactDeps) {
    this.identity = countIdentity(runner, keys.identity)
    this.#clock = clock
    this.#runner = runner
    this.#servers = servers
    const observers = this.#observers
    this.#nativeCommands = nativeCommands
    const { name: source } = this
    const form = exactForm
    this.#calls = new ExactCalls({ runner, clock, servers, form, source, maxBatch, observers, nativeCommands })
    this.#keys = keys
  }

  open(compiled: CompiledPolicy, name: string): ExactCounter {
    const native = this.#nativeCommands ? nativePolicy(compiled) : undefined
    return new ExactCounter(this, native ?? compiled, name)
  }

  async takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    if (this.#nativeCommands && charges.length === 1 && isPlain(charges[0])) {
      return answerOf(await this.#takePlain(charges[0], moment))
    }
    if (this.#inOneSlot(charges)) return this.#request('take', charges, 0, moment)
    const parts = this.#parts(charges)
    if (parts.length === 1) return this.#request('take', charges, 0, moment)
    return takeParts(parts, moment, (part) => this.#request('peek', part.charges, 0, moment))
  }

  /** Implements `take` of a counter. */
  takeOne(counter: ExactCounter, key: string, cost: number, moment?: Moment): Promise<Decision> {
    return this.#takePlain({ key, counter, cost }, moment)
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    return this.#requestEach('peek', charges, 0, moment)
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    // a time in the future or NaN means now
    const then = Number.isNaN(takenAt) ? Number.MAX_VALUE : Math.min(takenAt, Number.MAX_VALUE)
    return this.#requestEach('adjust', charges, then, this.#once(moment))
  }

  async resetAll(counted: readonly CountedKey[]): Promise<void> {
    const names = counted.map((target) => this.#keys.nameOfCells(target))
    const { id, deadlineAt } = this.#once()
    const calls = this.#bySlot(names).map((indexes) => {
      const keys = indexes.map((index) => names[index])
      const lives = indexes.map((index) => retentionMs(counted[index].counter.compiled))
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

  mayHaveLost(counted: CountedKey, ageMs: number): boolean {
    return this.#servers.reports.mayHaveLost(this.#keys.nameOfCells(counted), ageMs)
  }

  close(): void {
    this.#servers.close()
    this.#observers.clear()
  }

  async #requestEach(
    operation: 'peek' | 'adjust',
    charges: readonly Charge[],
    takenAt: number,
    times: RequestTimes | undefined,
  ): Promise<Answer> {
    const parts = this.#parts(charges)
    if (parts.length === 1) return this.#request(operation, charges, takenAt, times)
    const answers = await Promise.all(parts.map((part) => this.#request(operation, part.charges, takenAt, times)))
    return mergedAnswer(parts, answers)
  }

  /**
   * Returns the id and the deadline of a command that must be applied exactly once. The deadline does not depend on how
   * long the caller waits.
   */
  #once(moment?: Moment): { readonly id: string; readonly deadlineAt: number } {
    const { id, issuedAt } = moment?.idempotencyKey ?? newIdempotencyKey(this.#clock.now())
    return { id, deadlineAt: issuedAt + IDEMPOTENT_MS }
  }

  #request(operation: Operation, charges: readonly Charge[], takenAt: number, times?: RequestTimes): Promise<Answer> {
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
        requestedAt: this.#clock.now(),
        reported: undefined,
        flat: false,
        resolve,
        reject,
        retried: false,
      })
    })
  }

  #takePlain(charge: Charge, moment: Moment | undefined): Promise<SoleDecision> {
    return this.#calls.takeOne(charge, this.#keys.nameOfCells(charge), moment?.deadlineAt)
  }

  #inOneSlot(charges: readonly Charge[]): boolean {
    return !this.#runner.clustered || charges.every(({ key }) => key === charges[0].key)
  }

  /** Groups charges by slot. Returns one group on a single server, or if all charges have the same key. */
  #parts(charges: readonly Charge[]): ChargePart[] {
    if (this.#inOneSlot(charges)) return [{ backend: this.#oneSlot, indexes: [...charges.keys()], charges }]
    const slots = this.#bySlot(charges.map((charge) => this.#keys.nameOfCells(charge)))
    return slots.map((at) => ({ backend: this.#oneSlot, indexes: at, charges: at.map((index) => charges[index]) }))
  }

  /** Groups the indexes of Redis keys by slot. */
  #bySlot(names: readonly string[]): number[][] {
    const slots = new Map<number, number[]>()
    for (const [index, name] of names.entries()) {
      const slot = this.#runner.clustered ? hashSlot(name) : 0
      slots.set(slot, [...(slots.get(slot) ?? []), index])
    }
    return [...slots.values()]
  }
}

/** Whether a take of this charge has the same answer as a take of a counter. */
function isPlain({ counter, advisory, known, hold }: Charge): boolean {
  return !advisory && !known && !hold && !counter.compiled.bookings
}

/** Returns a decision as the answer to its only charge. */
function answerOf(decision: SoleDecision): Answer {
  const { policy, remaining, retryAfterMs, resetAfterMs, availableAfterMs, takenAt, counted, source } = decision
  const verdict = new ChargeVerdict(policy, false, remaining, retryAfterMs, resetAfterMs, availableAfterMs)
  return { verdicts: [verdict], takenAt, counted, source }
}
