import type { Decision } from './decision.ts'
import type { HeldUnits } from './held-units.ts'
import type { LimiterControls } from './limiter-controls.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Policy } from './policy.ts'

/** A limiter that an observer watches: what may be asked of it, and how it is steered while it runs. */
export interface ObservedLimiter {
  /** Those that are not off. */
  readonly policies: readonly ObservedPolicy[]
  /** What the count of the policy at `index` would answer a take of `cost`, also while the policy is switched off or the key is blocked; changes nothing. */
  peek(index: number, key: string, cost: number): MaybePromise<Decision>
  /** Makes a key as good as new in the policy at `index`. */
  reset(index: number, key: string): MaybePromise<void>
  /**
   * From now on these hold, and none of those before by the same `owner`; `undefined` is none. Of two owners the weaker
   * mode, the smaller limit and any block holds. Default: one owner for all who name none. Throws `SLUICE_BAD_LIMIT`
   * where a policy cannot have a limit, and changes nothing then.
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
  /** Equal for those that count in one place. */
  readonly identity: object
  /** True where it counts this process alone. */
  readonly perProcess: boolean
  /** The limit of a key's own; undefined where it has none. */
  overrideOf(key: string): number | undefined
  /** True for a key that is not counted, since it has no override. */
  isExempt(key: string): boolean
  /** What this process holds of a key apart from the count. */
  heldOf(key: string): readonly HeldUnits[]
}
