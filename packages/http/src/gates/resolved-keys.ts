import {
  ChargeVerdict,
  DENY,
  type Decision,
  EXEMPT,
  hasDenial,
  type Policy,
  type PolicyVerdict,
  RequestDecision,
  type ResolvedKey,
} from '@sluice/limiter-core/http'
import type { PlanGate } from './plan-gate.ts'
import type { RatePlan } from './rate-plans.ts'

type AnyPlan = RatePlan<never, never>

/** The key for each policy of a plan; undefined if the policy does not count the request. */
export type CountedKeys = readonly (string | undefined)[]

/** The keys of a request for which at least one key source returned `EXEMPT` or `DENY`. */
export class ResolvedKeys {
  readonly counted: CountedKeys
  /** Verdicts of policies whose key source returned `DENY`: denied, with no time to retry. */
  readonly denied: readonly PolicyVerdict[]
  /** The policies from which the request is not exempt; undefined if it is exempt from none. */
  readonly applying: readonly Policy[] | undefined
  readonly #plan: AnyPlan

  /** `windows`: those of policies whose window depends on the request. */
  constructor(
    { plan, limiter: { controlled } }: PlanGate<never, never>,
    keys: readonly ResolvedKey[],
    windows: readonly (number | undefined)[] = [],
  ) {
    this.#plan = plan
    const isShadow = ({ mode, policy }: AnyPlan[number]): boolean =>
      controlled ? !controlled.isEnforced(policy, mode) : mode === 'shadow'
    // loops over the keys, because a plan may have thousands of policies, of which few apply
    const applying: AnyPlan[number][] = []
    const denied: PolicyVerdict[] = []
    for (let index = 0; index < keys.length; index++) {
      if (keys[index] === EXEMPT) continue
      const one = plan[index]
      applying.push(one)
      if (keys[index] === DENY) denied.push(spent(one, isShadow(one), windows[index]))
    }
    this.denied = denied
    // a denied request takes nothing; if the denying policies are in shadow mode, only shadow policies take nothing
    const counts = (one: AnyPlan[number]): boolean => denied.length === 0 || !isShadow(one)
    this.counted = keys.map((key, index) => (typeof key === 'string' && counts(plan[index]) ? key : undefined))
    this.applying = applying.length < plan.length ? applying.map(({ policy }) => policy) : undefined
  }

  /** The decision if no count has to be read: the denials. Undefined if the request is exempt from all policies. */
  get uncounted(): Decision | undefined {
    if (this.denied.length === 0) return undefined
    return new RequestDecision({ verdicts: this.denied, takenAt: 0, counted: false, source: 'key' })
  }

  /** Whether the keys alone determine the decision: an enforced policy denies, or no policy counts the request. */
  get isFinal(): boolean {
    return hasDenial(this.denied) || this.counted.every((key) => key === undefined)
  }

  /** Adds the denials of shadow policies to the decision of the counted policies, in the order of the plan. */
  joined(decision: Decision): Decision {
    if (this.denied.length === 0 || this.isFinal) return decision
    const { verdicts, takenAt, takenAts, counted, countedEach, source } = decision
    const rows = [
      ...verdicts.map((verdict, index) => ({ verdict, at: takenAts?.[index], counted: countedEach?.[index] })),
      ...this.denied.map((verdict) => ({ verdict, at: takenAt, counted: true })),
    ]
    const placeOf = (verdict: PolicyVerdict): number =>
      this.#plan.findIndex(({ policy }) => policy.name === verdict.policy.name)
    rows.sort((a, b) => placeOf(a.verdict) - placeOf(b.verdict))
    return new RequestDecision({
      verdicts: rows.map(({ verdict }) => verdict),
      takenAt,
      takenAts: takenAts && rows.map(({ at }) => at ?? takenAt),
      counted,
      countedEach: countedEach && rows.map((row) => row.counted ?? counted),
      source,
    })
  }
}

function spent({ policy, limits }: AnyPlan[number], shadow: boolean, windowMs = policy.windowMs): PolicyVerdict {
  const denying = { ...policy, windowMs, ...(limits !== undefined && { limit: 0 }) }
  return new ChargeVerdict(denying, shadow, 0, Number.POSITIVE_INFINITY, 0)
}
