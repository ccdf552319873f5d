import type { Answer, Charge, MaybePromise } from '../contracts.ts'
import { type FailoverCharge, remoteCharge } from './failover-counter.ts'
import type { FailureRules } from './failure-rules.ts'
import type { Call, Limits } from './guarded-calls.ts'
import type { Basis } from './own-units.ts'
import { mayCountUnanswered, type PendingTakeDeps } from './pending-take.ts'

/** A take of several charges, under way. */
export class PendingTakes implements Call<Answer, Answer> {
  readonly operation = 'take'
  readonly #parts: PendingTakeDeps
  readonly #rules: FailureRules
  readonly #charges: readonly FailoverCharge[]
  #sent: readonly Charge[] = []
  #askedAt = 0
  #mayCount = true

  constructor(parts: PendingTakeDeps, rules: FailureRules, charges: readonly FailoverCharge[]) {
    this.#parts = parts
    this.#rules = rules
    this.#charges = charges
  }

  send(limits: Limits, now: number): MaybePromise<Answer> {
    const { remote, health } = this.#parts
    this.#askedAt = health.mirror.callAt(now)
    this.#sent = this.#withKnown(now)
    const answer = remote.takeAll(this.#sent, limits)
    this.#mayCount = mayCountUnanswered(remote, this.#sent)
    return answer
  }

  answered(answer: Answer, now: number): Answer {
    return this.#parts.health.record(this.#charges, answer, now, this.#askedAt)
  }

  ruled(now: number, basis: Basis): Answer {
    const { mirror } = this.#parts.health
    for (const [index, { known }] of this.#sent.entries()) mirror.handBack(this.#charges[index], known, now, basis)
    return this.#rules.take(this.#charges, now, this.#mayCount ? basis : 'uncounted')
  }

  /** The charges as the backend counts them, with what it may not know of their keys. */
  #withKnown(now: number): readonly Charge[] {
    const { mirror } = this.#parts.health
    if (!mirror.hasUnreported(now)) return this.#charges.map(remoteCharge)
    return this.#charges.map((charge) => ({ ...remoteCharge(charge), known: mirror.known(charge, now) }))
  }
}
