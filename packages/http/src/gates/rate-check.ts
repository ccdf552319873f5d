import type { Decision, HeaderEntry, HttpDenial, LimiterHold, Observers } from '@sluice/limiter-core/http'
import type { RateLimitOptions } from './options/rate-limit-options.ts'
import type { PlanGate } from './plan-gate.ts'
import type { PolicyChanges } from './policy-changes.ts'
import type { LayerRules, RatePlans } from './rate-plans.ts'
import type { CountedKeys } from './resolved-keys.ts'
import type { ResponseSettings } from './response-settings.ts'

/** Result of a check that counted the request: its keys, costs and decision. */
export interface RateCheck<Req, Res> {
  readonly gate: PlanGate<Req, Res>
  /** One key per policy of the plan; empty if a key source denied the request. */
  readonly keys: CountedKeys
  /** One cost per policy of the plan. */
  readonly costs: readonly number[]
  readonly decision: Decision
  /** Holds the costs until they are settled, if a policy has `maxHoldMs`. */
  readonly hold?: LimiterHold | undefined
  /** Set by a slow-down if the request exceeded the limit and was charged unconditionally. */
  readonly chargedBeyond?: boolean
  /** Header content, one entry per layer whose policies decided. */
  readonly entries: readonly HeaderEntry[]
  /** The denial to send; undefined for an allowed request. */
  readonly denial: HttpDenial | undefined
  /** Options that determine the response to a denial: those of the layer whose policy is binding. */
  readonly responseOptions: RateLimitOptions<Req, Res>
}

/** Settings of the gate for a part of an application that take precedence over its options. */
export interface GateOverrides<Req, Res> {
  /** Scope of the part on a user-provided backend. Replaces `scope` of the options. */
  readonly routeScope?: string | undefined
  /** Replaces the observers of the options. */
  readonly observers?: Observers | undefined
  /** Response settings inherited from the layer above, if the options define none. */
  readonly answer?: ResponseSettings<Req, Res> | undefined
  /** The gate above, whose policies this one has too. */
  readonly above?: { readonly changes: PolicyChanges<RatePlans<Req, Res>> | undefined } | undefined
  /**
   * Replaces the plans of the options. Called after all other options have been validated. `inherited`: the policies of
   * the gate above, if they do not apply yet.
   */
  readonly plans?:
    | ((layer: LayerRules<Req, Res>, inherited: RatePlans<Req, Res> | undefined) => RatePlans<Req, Res>)
    | undefined
}
