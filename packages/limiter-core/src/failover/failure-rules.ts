import type { Answer, BackendVerdict } from '../contracts.ts'
import type { FailoverCharge, FailureRule } from './failover-counter.ts'
import { ALLOW_RULE, DENY_RULE } from './fixed-rule.ts'
import type { Mirror } from './mirror.ts'
import type { Basis } from './own-units.ts'

const BY_STRICTNESS: readonly FailureRule['source'][] = ['deny', 'local', 'allow']

/** Decides instead of a backend, by the failure rule of each policy. Marks every answer as not counted. */
export class FailureRules {
  readonly #local: FailureRule

  constructor(mirror: Mirror) {
    this.#local = mirror
  }

  of(source: FailureRule['source']): FailureRule {
    if (source === 'local') return this.#local
    return source === 'allow' ? ALLOW_RULE : DENY_RULE
  }

  /** `basis`: whether the backend counts the units that are admitted here. */
  take(charges: readonly FailoverCharge[], now: number, basis: Basis): Answer {
    const denied = charges.some(({ counter, advisory }) => counter.rule === DENY_RULE && !advisory)
    // the other rules must not take if a rule denies the request
    return this.#each(charges, now, (rule, own) => (denied ? rule.peek(own, now) : rule.take(own, now, basis)))
  }

  peek(charges: readonly FailoverCharge[], now: number): Answer {
    return this.#each(charges, now, (rule, own) => rule.peek(own, now))
  }

  /** Under every rule, the mirror records adjustments of takes that the backend counted. */
  adjust(charges: readonly FailoverCharge[], takenAt: number, now: number, basis: Basis): Answer {
    // `adjust` does not set it for keys that do not exist
    for (const { counter } of charges) counter.mirror.compiled.moved = 0
    if (basis === 'counted') {
      const others = charges.filter(({ counter }) => counter.rule !== this.#local)
      if (others.length > 0) this.#local.adjust(others, takenAt, now, basis)
    }
    return this.#each(charges, now, (rule, own) => rule.adjust(own, takenAt, now, basis))
  }

  /** Calls `apply` with the charges of each rule, once if all charges have the same rule, and merges the answers. */
  #each(
    charges: readonly FailoverCharge[],
    now: number,
    apply: (rule: FailureRule, own: readonly FailoverCharge[]) => Answer,
  ): Answer {
    const first = charges[0]?.counter.rule ?? this.#local
    if (charges.every(({ counter }) => counter.rule === first)) return apply(first, charges)
    const answered = new Map<FailureRule, Iterator<BackendVerdict>>()
    for (const source of BY_STRICTNESS) {
      const rule = this.of(source)
      const own = charges.filter(({ counter }) => counter.rule === rule)
      if (own.length > 0) answered.set(rule, apply(rule, own).verdicts.values())
    }
    const verdicts = charges.map(({ counter }) => answered.get(counter.rule)?.next().value as BackendVerdict)
    const [strictest] = answered.keys()
    return { verdicts, takenAt: now, counted: false, source: strictest.source }
  }
}
