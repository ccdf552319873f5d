import type { LimiterControls } from '@sluice/limiter-core'
import { ActiveControls } from './active-controls.ts'
import type { ControlledMode } from './control.ts'
import type { StoredControl } from './stored-control.ts'

/** Active changes in the form that limiters read, also for limiters that cannot apply some of the limits. */
export class EffectiveControls {
  /** All active changes; undefined if there are none. */
  readonly all: LimiterControls | undefined
  /** Policies with a changed limit. */
  readonly limitedPolicies: readonly string[]
  readonly #controls: readonly StoredControl[]
  readonly #now: () => number

  /** `controls` is sorted oldest first. `now` returns ms since 1970. */
  constructor(controls: readonly StoredControl[], now: () => number) {
    this.#controls = controls
    this.#now = now
    const limits = controls.flatMap(({ change }) => (change.action === 'limit' ? (change.policy ?? []) : []))
    this.limitedPolicies = [...new Set(limits)]
    this.all = this.#build(controls)
  }

  /** Mode that an operator has set for the policy, if any. */
  modeOf(policy: string): ControlledMode | undefined {
    return this.all?.policies.get(policy)?.mode
  }

  /** All active changes except the limits of the given policies; undefined if none remain. */
  without(policies: ReadonlySet<string>): LimiterControls | undefined {
    return this.#build(
      this.#controls.filter(({ change: { action, policy } }) => action !== 'limit' || !policies.has(policy ?? '')),
    )
  }

  #build(controls: readonly StoredControl[]): LimiterControls | undefined {
    const built = new ActiveControls(controls, this.#now)
    return built.isEmpty ? undefined : built
  }
}
