import type { Answer, Backend, Charge, Decision, MaybePromise, PriorUsage, Step } from '../contracts.ts'
import { isPromise } from '../maybe-promise.ts'
import { checkedDecision } from './checked-answer.ts'
import type { FailureRule } from './failure-rule.ts'
import type { Call, Limits } from './guarded-calls.ts'
import type { Health } from './health.ts'
import type { Basis } from './own-units.ts'

/** What a take needs besides its charge. */
export interface PendingTakeDeps {
  readonly remote: Backend
  readonly health: Health
  readonly rule: FailureRule
}

/** A take of one charge, under way. Fields instead of closures: most requests are one, and each closure costs them. */
export class PendingTake implements Call<Answer | Decision, Decision>, Charge {
  readonly operation = 'take'
  readonly key: string
  readonly step: Step
  readonly count: string
  readonly cost: number
  known: PriorUsage | undefined = undefined
  readonly #parts: PendingTakeDeps
  #heardAt = 0
  #mayCount = true

  constructor(parts: PendingTakeDeps, key: string, step: Step, count: string, cost: number) {
    this.key = key
    this.step = step
    this.count = count
    this.cost = cost
    this.#parts = parts
  }

  send(limits: Limits, now: number): MaybePromise<Answer | Decision> {
    const { key, step, count, cost } = this
    const { remote, rule, health } = this.#parts
    this.#heardAt = health.mirror.callAt(now)
    if (health.mirror.hasUnreported(now)) this.known = rule.known(this, now)
    const { known } = this
    const answer =
      remote.takeOne && !known
        ? remote.takeOne(key, step, count, cost, limits)
        : remote.take([{ key, step, count, cost, known }], limits)
    if (isPromise(answer)) this.#mayCount = mayCountUnanswered(remote, [this])
    return answer
  }

  answered(answer: Answer | Decision, now: number): Decision {
    const { health, rule } = this.#parts
    const decision = checkedDecision(answer, this)
    const { remaining, resetAfterMs } = decision.binding
    rule.record(this, remaining, resetAfterMs, now, this.#heardAt, decision.allowed ? this.cost : 0)
    health.skewMs = now - decision.takenAt
    return decision
  }

  ruled(now: number, basis: Basis): Decision {
    const { rule } = this.#parts
    rule.handBack(this, this.known, now, basis)
    return rule.takeOne(this, now, this.#mayCount ? basis : 'uncounted')
  }
}

/** Whether a take that was begun just now may be counted though no answer comes. */
export function mayCountUnanswered(remote: Backend, charges: readonly Charge[]): boolean {
  return !remote.mayCountUnanswered || charges.some((charge) => remote.mayCountUnanswered?.(charge))
}
