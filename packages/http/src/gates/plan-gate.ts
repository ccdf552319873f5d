import {
  type BanTerms,
  type Clock,
  type FailoverRule,
  type Mode,
  type Observers,
  type Policy,
  PolicyLimiter,
  policyItems,
} from '@sluice/limiter-core/http'
import { type KeyGroups, keyGroups } from './options/key-group.ts'
import type { RatePlan } from './rate-plans.ts'
import type { ResponseSettings } from './response-settings.ts'

/** A plan with its limiter. */
export interface PlanGate<Req, Res> {
  readonly plan: RatePlan<Req, Res>
  readonly limiter: PolicyLimiter
  /** The policies of the plan, grouped by layer. */
  readonly parts: readonly PlanPart<Req, Res>[]
  /** For each policy, the index of the first policy with the same key source, which is called once for all of them. */
  readonly keyOf: readonly number[]
  /** The groups of the key sources; undefined if there are none. */
  readonly keyGroups: KeyGroups<Req> | undefined
  /** The costs, if none depends on the request. */
  readonly fixedCosts: readonly number[] | undefined
  /** Set if the plan has a single policy for which nothing but the key depends on the request. */
  readonly sole: SolePolicy<Req, Res> | undefined
  /** Whether a policy has limits that depend on the request. */
  readonly hasLimits: boolean
  /** Whether a policy has windows that depend on the request. */
  readonly hasWindows: boolean
  /** Whether a policy exempts keys without an override. */
  readonly exempts: boolean
  /** Whether a policy settles its cost after the response, or needs the outcome of the response for its bans. */
  readonly settles: boolean
  /** Whether the costs of the request are held until they are settled. */
  readonly holds: boolean
  /** Whether a hold is extended while the response streams. */
  readonly streams: boolean
}

/** An enforced policy with one limit for all keys, a fixed cost and no partition key. */
interface SolePolicy<Req, Res> {
  readonly key: RatePlan<Req, Res>[number]['key']
  readonly cost: number
  readonly costs: readonly number[]
  readonly headers: ResponseSettings<Req, Res>['headers']
}

/** The policies of a plan that belong to one layer. */
export interface PlanPart<Req, Res> {
  readonly answer: ResponseSettings<Req, Res>
  readonly policies: readonly Policy[]
  /** The same policies with their modes. */
  readonly members: readonly { readonly policy: Policy; readonly mode: Mode }[]
  readonly enforced: ReadonlySet<Policy>
  /** The items of the enforced policies, for `RateLimit-Policy`. */
  readonly policyItems: string
  /** Whether one of them has another limit or window for some keys or requests. */
  readonly overrides: boolean
}

export function planGate<Req, Res>(
  plan: RatePlan<Req, Res>,
  clock: Clock | undefined,
  observers: Observers,
  failover: FailoverRule,
): PlanGate<Req, Res> {
  const active = plan.filter(({ mode }) => mode !== 'off')
  const costs = active.map(({ cost }) => cost.fixed)
  const fixedCosts = costs.every((cost) => cost !== undefined) ? costs : undefined
  const firsts = new Map(active.map(({ key }, index) => [key, index] as const).reverse())
  return {
    plan: active,
    parts: [...new Set(active.map(({ answer }) => answer))].map((answer) => partOf(active, answer)),
    keyOf: active.map(({ key }) => firsts.get(key) as number),
    keyGroups: keyGroups(active.map(({ key }) => key)),
    fixedCosts,
    sole: fixedCosts && soleOf(active, fixedCosts),
    limiter: new PolicyLimiter(plan, clock, observers, failover),
    hasLimits: active.some(({ limits }) => limits !== undefined),
    hasWindows: active.some(({ windows }) => windows !== undefined),
    exempts: active.some(({ overrides }) => overrides?.exemptsOthers),
    holds: active.some(({ cost, policy }) => cost.settle !== undefined && policy.maxHoldMs !== undefined),
    streams: active.some(({ cost }) => cost.stream !== undefined),
    settles: plan.some(({ cost, ban }) => cost.settle !== undefined || needsOutcome(ban?.terms)),
  }
}

function partOf<Req, Res>(plan: RatePlan<Req, Res>, answer: ResponseSettings<Req, Res>): PlanPart<Req, Res> {
  const own = plan.filter((one) => one.answer === answer)
  const enforced = new Set(own.filter(({ mode }) => mode === 'enforce').map(({ policy }) => policy))
  const overrides = own.some((one) => one.overrides !== undefined || one.terms !== undefined)
  const policies = own.map(({ policy }) => policy)
  return { answer, policies, members: own, enforced, policyItems: policyItems([...enforced]), overrides }
}

/** Whether bans depend on how the requests end. */
export function needsOutcome(terms: Pick<BanTerms, 'strikes' | 'forgives'> | undefined): boolean {
  return terms !== undefined && (terms.strikes !== 'denials' || terms.forgives)
}

function soleOf<Req, Res>(plan: RatePlan<Req, Res>, costs: readonly number[]): SolePolicy<Req, Res> | undefined {
  const [one, ...others] = plan
  if (!one || others.length > 0 || one.mode !== 'enforce' || one.answer.partition) return undefined
  if (one.overrides || one.terms || one.policy.maxHoldMs) return undefined
  return { key: one.key, cost: costs[0], costs, headers: one.answer.headers }
}
