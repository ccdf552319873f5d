import { RemoteBackend } from '@sluice/fleet/backend'
import {
  type Answer,
  type Charge,
  ChargeVerdict,
  type Clock,
  type CompiledPolicy,
  type Decision,
  type Moment,
  Observers,
  type ScriptRunner,
  type SoleDecision,
} from '@sluice/limiter-core/backend'
import { countIdentity } from '../client/count-identity.ts'
import type { EntityKeys } from '../client/entity-key.ts'
import { hashSlot } from '../client/hash-slot.ts'
import { nativePolicy } from '../lua/native-policy.ts'
import type { ServerState } from '../server-time/known-servers.ts'
import { exactForm } from './batch-call.ts'
import { ExactCalls } from './exact-calls.ts'
import { ExactCounter } from './exact-counter.ts'

export interface ExactDeps {
  readonly runner: ScriptRunner
  readonly servers: ServerState
  readonly keys: EntityKeys
  readonly maxBatch: number
  readonly clock: Clock
  /** Default: false. */
  readonly nativeCommands?: boolean
}

/** Backend returned by `redisBackend`. */
export class ExactBackend extends RemoteBackend {
  readonly keepsHolds = true
  readonly booksTurns = true
  readonly #calls: ExactCalls
  readonly #keys: EntityKeys
  readonly #nativeCommands: boolean

  constructor({ runner, servers, keys, maxBatch, clock, nativeCommands = false }: ExactDeps) {
    const name = 'redis'
    const observers = new Observers()
    const calls = new ExactCalls({
      runner,
      clock,
      servers,
      form: exactForm,
      source: name,
      maxBatch,
      observers,
      nativeCommands,
    })
    super({
      name,
      identity: countIdentity(runner, keys.identity),
      clock,
      observers,
      nameOf: (counted) => keys.nameOfCells(counted),
      groupOf: (counted) => (runner.clustered ? hashSlot(keys.nameOfCells(counted)) : 0),
      // clients send commands again after they have connected again
      needsIds: true,
      send: (request) => calls.add(request),
      interrupted: (listener) => runner.interrupted?.((event) => listener(event)) ?? (() => {}),
      mayHaveLost: (counted, ageMs) => servers.reports.mayHaveLost(keys.nameOfCells(counted), ageMs),
      close: () => servers.close(),
    })
    this.#calls = calls
    this.#keys = keys
    this.#nativeCommands = nativeCommands
  }

  override open(compiled: CompiledPolicy, name: string): ExactCounter {
    const native = this.#nativeCommands ? nativePolicy(compiled) : undefined
    return new ExactCounter(this, native ?? compiled, name)
  }

  override takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    const isNative = this.#nativeCommands && charges.length === 1 && isPlain(charges[0])
    return isNative ? this.#takePlain(charges[0], moment).then(answerOf) : super.takeAll(charges, moment)
  }

  /** Implements `take` of a counter. */
  takeOne(counter: ExactCounter, key: string, cost: number, moment?: Moment): Promise<Decision> {
    return this.#takePlain({ key, counter, cost }, moment)
  }

  #takePlain(charge: Charge, moment: Moment | undefined): Promise<SoleDecision> {
    return this.#calls.takeOne(charge, this.#keys.nameOfCells(charge), moment?.deadlineAt)
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
