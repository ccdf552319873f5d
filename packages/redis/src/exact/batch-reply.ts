import type { RemoteReply } from '@sluice/fleet/backend'
import {
  type Answer,
  ChargeVerdict,
  type CompiledPolicy,
  type PolicyVerdict,
  SoleDecision,
} from '@sluice/limiter-core/backend'
import { failureOfText, invalidReply, type RedisFailure } from '../client/redis-failure.ts'
import { replyParts } from '../server-time/reply-parts.ts'
import type { TimedReply } from '../server-time/timed-calls.ts'
import type { ScriptRequest } from './script-request.ts'

/** Parser for a reply of `exact-batch.lua`. */
export class BatchReply implements TimedReply, RemoteReply<ScriptRequest> {
  readonly now: number
  readonly late: boolean
  readonly #fields: readonly string[]
  readonly #messages: readonly string[]
  readonly #source: string
  #at = 1

  /** `source` is the name of the backend, for decisions. Throws a `RedisFailure` if the reply has no valid time. */
  constructor(reply: unknown, source: string) {
    this.#source = source
    const { fields, messages, late, now } = replyParts(reply)
    this.#fields = fields
    this.#messages = messages
    this.late = late
    this.now = now
  }

  /**
   * Returns the answer to the next request in the order of the call. For an adjustment, `moved` is called for each
   * charge with the number of units that were applied.
   */
  next(request: ScriptRequest, moved: (charge: number, units: number) => void): Answer | RedisFailure {
    const { charges } = request
    if (request.flat) return this.nextDecision(charges[0].counter.compiled)
    const failure = this.#failure()
    if (failure) return failure
    const verdicts: PolicyVerdict[] = []
    for (let index = 0; index < charges.length; index++) {
      const { counter, advisory } = charges[index]
      if (request.operation === 'adjust') moved(index, this.#number())
      const remaining = this.#number()
      const [waitMs, resetMs, growsMs] = [this.#waitMs(), this.#resetMs(), this.#waitMs()]
      const { compiled } = counter
      const verdict = new ChargeVerdict(compiled.policy, advisory === true, remaining, waitMs, resetMs, growsMs)
      verdicts.push(this.#withSpent(compiled, verdict))
    }
    if (this.#at > this.#fields.length) return invalidReply()
    return { verdicts, takenAt: this.now, counted: true, source: this.#source }
  }

  /** Returns the decision for the next request, which must be a take of one enforced charge. */
  nextDecision(compiled: CompiledPolicy): SoleDecision | RedisFailure {
    const failure = this.#failure()
    if (failure) return failure
    const remaining = this.#number()
    const waitMs = this.#waitMs()
    const resetMs = this.#resetMs()
    const sole = new SoleDecision(this.#source, compiled.policy, remaining, waitMs, resetMs, this.now, this.#waitMs())
    const decision = this.#withSpent(compiled, sole)
    return this.#at > this.#fields.length ? invalidReply() : decision
  }

  /**
   * Sets the usage without turns, and the held units. Verdicts of other policies do not have the properties, and keep one
   * hidden class.
   */
  #withSpent<V extends PolicyVerdict>({ bookings, holds, capacity }: CompiledPolicy, verdict: V): V {
    if (bookings) Object.assign(verdict, { spent: capacity - this.#number() })
    return holds ? Object.assign(verdict, { held: this.#number() }) : verdict
  }

  #failure(): RedisFailure | undefined {
    const field = this.#fields[this.#at]
    if (!field?.startsWith('!')) return undefined
    this.#at++
    return failureOfText(this.#messages[Number(field.slice(1)) - 1])
  }

  #number(): number {
    return Number(this.#fields[this.#at++])
  }

  /** A time in ms, or `/` and a number of 4,096ths of a millisecond. */
  #resetMs(): number {
    const field = this.#fields[this.#at++]
    return field?.startsWith('/') ? Number(field.slice(1)) / 4_096 : Number(field)
  }

  #waitMs(): number {
    const waitMs = this.#number()
    return waitMs < 0 ? Number.POSITIVE_INFINITY : waitMs
  }
}
