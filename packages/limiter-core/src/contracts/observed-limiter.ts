import type { CountEstimate } from './count-estimate.ts'
import type { BanTerms } from './decisions/ban-terms.ts'
import type { Decision } from './decisions/decision.ts'
import type { Policy } from './decisions/policy.ts'
import type { HeldUnits } from './held-units.ts'
import type { LimiterControls } from './limiter-controls.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** Handle of a limiter for observers, to inspect and change it while it runs. */
export interface ObservedLimiter {
  /** Policies of the limiter, except policies in mode `off`. */
  readonly policies: readonly ObservedPolicy[]
  /**
   * Returns the decision that a take of `cost` units would get from the policy at `index`, and changes nothing. Works
   * even while the policy is switched off by controls or the key is blocked.
   */
  peek(index: number, key: string, cost: number): MaybePromise<Decision>
  /** Removes all usage and debt of a key in the policy at `index`, and lifts its ban. */
  reset(index: number, key: string): MaybePromise<void>
  /** Lifts the ban of a key in the policy at `index`, and forgets its strikes and bans. Its count is not changed. */
  lift(index: number, key: string): MaybePromise<void>
  /**
   * Applies controls and replaces earlier controls of the same `owner`; `undefined` removes them. If several owners
   * set controls, the more permissive mode, the smaller limit and all blocks apply. All callers without an `owner`
   * share one. Throws `SLUICE_BAD_LIMIT` and changes nothing if a policy cannot have one of the limits.
   */
  control(controls: LimiterControls | undefined, owner?: object): void
}

/** A policy of a running limiter, as it was configured. */
export interface ObservedPolicy {
  readonly policy: Policy
  readonly mode: 'enforce' | 'shadow'
  /** Name of the count, `scope/policy/algorithm@version`. Policies with equal names on one backend share a count. */
  readonly countName: string
  /** Name of the backend. */
  readonly backend: string
  /** The same object for all backends that share counts. */
  readonly identity: object
  /** Whether each process counts separately. */
  readonly perProcess: boolean
  /** When the policy bans keys; undefined if it does not. */
  readonly ban: BanTerms | undefined
  /** Returns the override limit of a key, or undefined. */
  overrideOf(key: string): number | undefined
  /** Whether a key is not counted, because it has no override and the overrides exempt other keys. */
  isExempt(key: string): boolean
  /** Returns the units of a key that this process holds in addition to the count. */
  heldUnitsOf(key: string): readonly HeldUnits[]
  /** Returns how the count of a key in this process differs from the shared count; undefined if it is that count. */
  estimateOf(key: string): CountEstimate | undefined
}
