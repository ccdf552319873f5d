import {
  type Answer,
  type Backend,
  type Charge,
  type ChargePart,
  type Clock,
  clockOf,
  type Decision,
  forgetsMs,
  IDEMPOTENT_MS,
  type Interruption,
  type Moment,
  mergedAnswer,
  newIdempotencyKey,
  type Observer,
  Observers,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
  SluiceError,
  type Step,
  shown,
  takeTogether,
} from '@sluice/limiter-core'
import type { Operation } from './ask.ts'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from './entity-key.ts'
import { ExactCalls } from './exact-calls.ts'
import { hashSlot } from './hash-slot.ts'
import type { RedisClient } from './redis-client.ts'
import { runnerOf } from './script-runner.ts'

export interface RedisBackendOptions extends EntityKeyOptions {
  /** The process clock, of deadlines alone: what is counted has the time of the server. */
  readonly clock?: Clock | undefined
  /**
   * For tests: a clock in ms instead of the server's. Keys then live ten minutes longer than they count, by the
   * server's time, and deadlines are not kept by the server.
   */
  readonly serverTime?: (() => number) | undefined
  /**
   * The most keys of one script call, 1 to 1,000; 32 unless said, which take Redis 0.1 ms, 0.3 ms with windows of 60
   * slices. Redis serves nobody else until a call is done. A request with more keys is one call all the same.
   */
  readonly maxBatch?: number | undefined
}

const OPTIONS = [...ENTITY_KEY_OPTIONS, 'clock', 'serverTime', 'maxBatch'] as const
const DEFAULT_MAX_BATCH = 32
const MOST_MAX_BATCH = 1_000

/**
 * Counts in Redis, exactly: all processes together admit what one would. A request is one script call, whatever its
 * policies, and requests that come in one turn of the event loop share a call. Time is the server's.
 *
 * In a cluster all counts of one key lie in one slot. A request whose policies count different keys takes slot by slot
 * there, and gives back what it took where a later one denies or fails: that never over-admits, and may turn others away
 * while it lasts.
 *
 * `client` is a `Redis` or `Cluster` of ioredis 5 or 6, or a `ScriptRunner`. It stays the user's: `close` takes away the
 * listeners that were put on it. Answers or rejects with a `RedisFailure`.
 */
export function redisBackend(
  client: RedisClient | ScriptRunner,
  options: RedisBackendOptions = {},
): Backend<Promise<Answer>> {
  const { clock, serverTime, maxBatch = DEFAULT_MAX_BATCH, ...keys } = optionsOf('redisBackend', options, OPTIONS)
  if (!(Number.isInteger(maxBatch) && maxBatch >= 1 && maxBatch <= MOST_MAX_BATCH)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `redisBackend: maxBatch: got ${shown(maxBatch, 'maxBatch')}, expected a whole number from 1 to ${MOST_MAX_BATCH}`,
    )
  }
  optionalFunction('redisBackend: serverTime', serverTime)
  const observers = new Observers()
  const runner = runnerOf(client)
  const itsClock = clockOf(clock)
  const calls = new ExactCalls({ runner, clock: itsClock, serverTime, maxBatch, observers })
  return new RedisBackend({ runner, calls, keys: new EntityKeys('redisBackend', keys), observers, clock: itsClock })
}

interface RedisParts {
  readonly runner: ScriptRunner
  readonly calls: ExactCalls
  readonly keys: EntityKeys
  readonly observers: Observers
  readonly clock: Clock
}

/** Until when an ask may arrive, and of what is to be done once its id. */
interface AskTimes {
  readonly deadlineAt?: number | undefined
  readonly id?: string
}

class RedisBackend implements Backend<Promise<Answer>> {
  readonly name = 'redis'
  readonly #clock: Clock
  readonly #runner: ScriptRunner
  readonly #calls: ExactCalls
  readonly #keys: EntityKeys
  readonly #observers: Observers
  readonly #oneSlot: ChargePart['backend'] = {
    take: (charges, moment) => this.#ask('take', charges, 0, moment),
    adjust: (charges, takenAt, moment) => this.#ask('adjust', charges, takenAt, this.#once(moment)),
  }

  constructor({ runner, calls, keys, observers, clock }: RedisParts) {
    this.#clock = clock
    this.#runner = runner
    this.#calls = calls
    this.#keys = keys
    this.#observers = observers
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
    return this.#calls.mayHaveLost(this.#keys.nameOfCells(target), ageMs)
  }

  close(): void {
    this.#calls.close()
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
