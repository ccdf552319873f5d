import type { Clock, Decision, Policy } from '../contracts.ts'
import type { FailoverRule } from '../failover/failover-options.ts'
import { LaneLimiter } from '../limiter.ts'
import type { Observers } from '../observers.ts'
import { policyItems } from './gate.ts'
import type { RatePlan } from './rate-plans.ts'

/** A plan with its limiter. */
export interface PlanGuard<Req, Res> {
  readonly plan: RatePlan<Req, Res>
  readonly limiter: LaneLimiter
  readonly policyItems: string
  /** For each policy the place of the first one with the same key source, which is asked once for all of them. */
  readonly keyOf: readonly number[]
  /** The costs where none depends on the request. */
  readonly fixedCosts: readonly number[] | undefined
  /** True where a policy says its cost when the response is over. */
  readonly settles: boolean
}

export function planGuard<Req, Res>(
  plan: RatePlan<Req, Res>,
  clock: Clock | undefined,
  observers: Observers,
  failover: FailoverRule,
): PlanGuard<Req, Res> {
  const lanes = plan.map(({ lane }) => lane)
  const enforced = lanes.filter(({ mode }) => mode === 'enforce').map(({ step }) => step.policy)
  const active = plan.filter(({ lane }) => lane.mode !== 'off')
  const costs = active.map(({ cost }) => cost.fixed)
  return {
    plan: active,
    keyOf: active.map(({ key }) => active.findIndex((other) => other.key === key)),
    fixedCosts: costs.every((cost) => cost !== undefined) ? costs : undefined,
    limiter: new LaneLimiter(lanes, clock, observers, failover),
    policyItems: policyItems(enforced),
    settles: plan.some(({ cost }) => cost.settle !== undefined),
  }
}

export function enforcedPolicies(decision: Decision): Policy[] {
  return decision.verdicts.filter(({ shadow }) => !shadow).map(({ policy }) => policy)
}
