import type { ObservedLimiter } from '@sluice/limiter-core'
import type { ControlAction, ControlledMode } from './control.ts'
import type { ControlBounds } from './control-bounds.ts'
import { EffectiveControls } from './effective-controls.ts'
import type { StoredControl } from './stored-control.ts'
import type { WatchedLimiters } from './watched-limiters.ts'

export interface AppliedControlsDeps {
  readonly limiters: WatchedLimiters
  readonly bounds: ControlBounds
  /** Returns ms since 1970. */
  readonly now: () => number
}

/** Changes that are applied to the observed limiters, within the bounds of this process. */
export class AppliedControls {
  readonly #deps: AppliedControlsDeps
  #active: readonly StoredControl[] = []
  #effective: EffectiveControls | undefined
  /** Reasons why a changed limit could not be applied, by policy. */
  #failures = new Map<string, string>()

  constructor(deps: AppliedControlsDeps) {
    this.#deps = deps
  }

  /** The changes given to `replace`, oldest first. */
  get active(): readonly StoredControl[] {
    return this.#active
  }

  /** Applies `active`, sorted oldest first, instead of the previous changes. Does nothing if they are the same. */
  replace(active: readonly StoredControl[]): void {
    const isSame = active.length === this.#active.length && active.every((one, index) => one === this.#active[index])
    if (isSame) return
    this.#active = active
    const allowed = active.filter((one) => this.#isInBounds(one))
    this.#effective = new EffectiveControls(allowed, this.#deps.now)
    this.#failures = this.#deps.limiters.applyToAll(this.#effective)
  }

  /**
   * Applies the changes to a limiter created later. Returns the limits that it rejects, with the reason, except limits
   * of policies for which a limit was rejected before.
   */
  applyTo(limiter: ObservedLimiter): { readonly control: StoredControl; readonly why: string }[] {
    if (!this.#effective) return []
    const failures = [...this.#deps.limiters.apply(limiter, this.#effective)]
    return failures.flatMap(([policy, why]) => {
      if (this.#failures.has(policy)) return []
      this.#failures.set(policy, why)
      const control = this.#active.findLast(({ change }) => change.action === 'limit' && change.policy === policy)
      return control ? { control, why } : []
    })
  }

  /** Returns the reason why a change is not applied everywhere in this process; undefined if it is. */
  failureOf(control: StoredControl): string | undefined {
    const { change } = control
    if (!this.#isInBounds(control)) return refusalOf(change)
    return change.action === 'limit' ? this.#failures.get(change.policy) : undefined
  }

  /** Mode that an operator has set for the policy, if any. */
  modeOf(policy: string): ControlledMode | undefined {
    return this.#effective?.modeOf(policy)
  }

  #isInBounds({ change }: StoredControl): boolean {
    const { bounds } = this.#deps
    if (change.action === 'mode') return change.mode !== 'enforce' || bounds.mayEnforce(change.policy)
    return change.action !== 'limit' || bounds.admits(change.policy, change.limit)
  }
}

function refusalOf({ action }: ControlAction): string {
  return action === 'mode'
    ? 'this process does not allow operators to enforce the policy'
    : 'the limit is outside the bounds configured in this process'
}
