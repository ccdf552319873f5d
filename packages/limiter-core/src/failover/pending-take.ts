import { checkedDecision } from '../backend/checked-answer.ts'
import { isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Backend, CountedKey, Decision, MaybePromise, PriorUsage } from '../contracts.ts'
import { RequestDecision } from '../decision/verdict.ts'
import type { AdmittedUnitsReporter } from './admitted-units.ts'
import type { BackendHealth } from './backend-health.ts'
import type { FailoverCharge, FailoverCounter } from './failover-counter.ts'
import type { Call, Limits } from './guarded-calls.ts'
import { resolveLater } from './late-replies.ts'
import type { Basis } from './own-units.ts'

/** The dependencies of a take, besides its charge. */
export interface PendingTakeDeps {
  readonly remote: Backend
  readonly health: BackendHealth
  readonly passed: AdmittedUnitsReporter
}

/**
 * A take of one charge in progress. It has fields instead of closures, because most requests are such takes, and each
 * closure would add to their cost.
 */
export class PendingTake implements Call<Answer | Decision, Decision>, FailoverCharge {
  readonly operation = 'take'
  readonly key: string
  readonly counter: FailoverCounter
  readonly cost: number
  known: PriorUsage | undefined = undefined
  readonly #parts: PendingTakeDeps
  #requestedAt = 0
  #mayCount = true
  #answer: Promise<Answer | Decision> | undefined

  constructor(parts: PendingTakeDeps, counter: FailoverCounter, key: string, cost: number) {
    this.key = key
    this.counter = counter
    this.cost = cost
    this.#parts = parts
  }

  send(limits: Limits, now: number): MaybePromise<Answer | Decision> {
    const { key, counter, cost } = this
    const { remote, health } = this.#parts
    this.#requestedAt = health.mirror.callAt(now)
    if (health.mirror.hasUnreported(now)) this.known = health.mirror.missingUsage(this, now)
    const { known } = this
    const charge = { key, counter: counter.remote, cost, known }
    const answer = known ? remote.takeAll([charge], limits) : counter.remote.take(key, cost, limits)
    if (!isPromise(answer)) return answer
    this.#mayCount = mayCountUnanswered(remote, [charge])
    this.#answer = Promise.resolve(answer)
    return this.#answer
  }

  answered(answer: Answer | Decision, now: number): Decision {
    const { health } = this.#parts
    const decision = checkedDecision(answer, this)
    health.mirror.record(this, decision.binding, now, this.#requestedAt, decision.allowed ? this.cost : 0)
    health.skewMs = now - decision.takenAt
    return decision
  }

  fallback(now: number, basis: Basis): Decision {
    const { health, passed } = this.#parts
    health.mirror.handBack(this, this.known, now, basis)
    const own = this.#mayCount ? basis : 'uncounted'
    const { key, counter, cost } = this
    const decision = new RequestDecision(counter.rule.take([{ key, counter, cost }], now, own))
    const verdictsOf = (answer: Answer | Decision): Decision['verdicts'] => checkedDecision(answer, this).verdicts
    // the reply that may still arrive for a take that was possibly counted
    const reply = own === 'uncounted' ? undefined : this.#answer
    if (passed.isSupported) passed.taken([this], decision.verdicts, now, reply?.then(verdictsOf))
    else if (reply) resolveLater(health, reply, verdictsOf, [this], decision.verdicts, [this])
    return decision
  }
}

/** Whether a take that has just started may be counted even if no reply arrives. */
export function mayCountUnanswered(remote: Backend, keys: readonly CountedKey[]): boolean {
  return !remote.mayCountUnanswered || keys.some((counted) => remote.mayCountUnanswered?.(counted))
}
