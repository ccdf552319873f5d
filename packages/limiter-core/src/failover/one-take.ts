import type { Answer, Backend, Charge, Decision, MaybePromise, Step } from '../contracts.ts'
import { checkedDecision } from './checked-answer.ts'
import type { FailureRule } from './failure-rule.ts'
import type { Call, Limits } from './guarded-calls.ts'
import type { Health } from './health.ts'

/** What a take needs besides its charge. */
export interface TakeParts {
  readonly remote: Backend
  readonly health: Health
  readonly rule: FailureRule
}

/** A take of one charge, under way. Fields instead of closures: most requests are one, and each closure costs them. */
export class OneTake implements Call<Answer | Decision, Decision>, Charge {
  readonly operation = 'take'
  readonly key: string
  readonly step: Step
  readonly count: string
  readonly cost: number
  readonly #parts: TakeParts
  readonly #generation: number

  constructor(parts: TakeParts, key: string, step: Step, count: string, cost: number) {
    this.key = key
    this.step = step
    this.count = count
    this.cost = cost
    this.#parts = parts
    this.#generation = parts.health.mirror.generation
  }

  send(limits: Limits, now: number): MaybePromise<Answer | Decision> {
    const { key, step, count, cost } = this
    const { remote, rule, health } = this.#parts
    const mayBeUntold = health.mirror.mayBeUntold(now)
    if (remote.takeOne && !mayBeUntold) return remote.takeOne(key, step, count, cost, limits)
    const known = mayBeUntold ? rule.untold(this, now) : undefined
    return remote.take([{ key, step, count, cost, known }], limits)
  }

  came(answer: Answer | Decision, now: number): Decision {
    const { health, rule } = this.#parts
    const decision = checkedDecision(answer, this)
    const { remaining, resetAfterMs } = decision.binding
    rule.told(this, remaining, resetAfterMs, now, this.#generation)
    health.skewMs = now - decision.takenAt
    return decision
  }

  ruled(now: number): Decision {
    return this.#parts.rule.takeOne(this.key, this.step, this.count, this.cost, now)
  }
}
