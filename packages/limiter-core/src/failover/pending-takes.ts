import { checkedAnswer } from '../backend/checked-answer.ts'
import { isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, MaybePromise, PriorUsage } from '../contracts.ts'
import { type FailoverCharge, remoteCharge } from './failover-counter.ts'
import type { FailureRules } from './failure-rules.ts'
import type { Call, Limits } from './guarded-calls.ts'
import { resolveLater } from './late-replies.ts'
import type { Basis } from './own-units.ts'
import { mayCountUnanswered, type PendingTakeDeps } from './pending-take.ts'

/** A take of several charges in progress. */
export class PendingTakes implements Call<Answer, Answer> {
  readonly operation = 'take'
  readonly #parts: PendingTakeDeps
  readonly #rules: FailureRules
  readonly #charges: readonly FailoverCharge[]
  #sent: readonly Charge[] = []
  #requestedAt = 0
  #mayCount = true
  #answer: MaybePromise<Answer> | undefined

  constructor(parts: PendingTakeDeps, rules: FailureRules, charges: readonly FailoverCharge[]) {
    this.#parts = parts
    this.#rules = rules
    this.#charges = charges
  }

  send(limits: Limits, now: number): MaybePromise<Answer> {
    const { remote, health } = this.#parts
    this.#requestedAt = health.mirror.callAt(now)
    this.#sent = this.#withKnown(now)
    const answer = remote.takeAll(this.#sent, limits)
    this.#mayCount = mayCountUnanswered(remote, this.#sent)
    // each call of `then` may run the work of a thenable again
    this.#answer = isPromise(answer) ? Promise.resolve(answer) : answer
    return this.#answer
  }

  answered(answer: Answer, now: number): Answer {
    return this.#parts.health.record(this.#charges, answer, now, this.#requestedAt)
  }

  fallback(now: number, basis: Basis): Answer {
    const { health, passed } = this.#parts
    for (const [index, { known }] of this.#sent.entries())
      health.mirror.handBack(this.#charges[index], known, now, basis)
    const own = this.#mayCount ? basis : 'uncounted'
    const answer = this.#rules.take(this.#charges, now, own)
    const verdictsOf = (late: Answer): Answer['verdicts'] => checkedAnswer(late, this.#charges).verdicts
    // the reply that may still arrive for takes that were possibly counted
    const reply = own === 'uncounted' || !isPromise(this.#answer) ? undefined : this.#answer
    if (passed.isSupported) passed.taken(this.#charges, answer.verdicts, now, reply?.then(verdictsOf))
    else if (reply) resolveLater(health, reply, verdictsOf, this.#charges, answer.verdicts, this.#sent)
    return answer
  }

  /** Returns the charges on the backend's counters, with usage of their keys that the backend may lack. */
  #withKnown(now: number): readonly Charge[] {
    const { mirror } = this.#parts.health
    if (!mirror.hasUnreported(now)) return this.#charges.map(remoteCharge)
    return this.#charges.map((charge) => ({
      ...remoteCharge(charge),
      known: joinedUsage(charge.known, mirror.missingUsage(charge, now)),
    }))
  }
}

/** Returns the usage that the caller knows together with the usage that the backend may lack. */
function joinedUsage(known: PriorUsage | undefined, missing: PriorUsage | undefined): PriorUsage | undefined {
  if (!known || !missing) return known ?? missing
  const used = Math.max(known.used, missing.used)
  // without an age, the backend restores the usage even if it has lost nothing
  return { ...missing, used, resetAfterMs: Math.max(known.resetAfterMs, missing.resetAfterMs), ageMs: undefined }
}
