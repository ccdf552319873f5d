import type { Decision } from './decision.ts'
import type { HeldUnits } from './held-units.ts'
import type { LimiterControls } from './limiter-controls.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Policy } from './policy.ts'

/** A limiter as an observer sees it: how to read it and how to change it while it runs. */
export interface ObservedLimiter {
  /** The policies that are not `off`. */
  readonly policies: readonly ObservedPolicy[]
  /**
   * Returns the decision for a take of `cost` by the policy at `index`, even while the policy is switched off or the
   * key is blocked. Changes nothing.
   */
  peek(index: number, key: string, cost: number): MaybePromise<Decision>
  /** Makes a key as good as new in the policy at `index`. */
  reset(index: number, key: string): MaybePromise<void>
  /**
   * Applies controls and replaces earlier controls of the same `owner`; `undefined` removes them. If several owners
   * set controls, the more permissive mode, the smaller limit and all blocks apply. Default owner: one for all
   * callers that pass none. Throws `SLUICE_BAD_LIMIT` and changes nothing if a policy cannot have a limit.
   */
  control(controls: LimiterControls | undefined, owner?: object): void
}

/** A policy as it was built. */
export interface ObservedPolicy {
  readonly policy: Policy
  readonly mode: 'enforce' | 'shadow'
  /** The name of its count: policies of equal names on one backend meet in it. */
  readonly count: string
  readonly backend: string
  /** Equal for backends that share counts. */
  readonly identity: object
  /** True where it counts this process alone. */
  readonly perProcess: boolean
  /** Returns the override limit of a key, or undefined. */
  overrideOf(key: string): number | undefined
  /** True for a key that is not counted, since it has no override. */
  isExempt(key: string): boolean
  /** Returns the units of a key that this process holds in addition to the count. */
  heldOf(key: string): readonly HeldUnits[]
}
