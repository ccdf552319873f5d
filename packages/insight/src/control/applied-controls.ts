import type { CapControls, CapHandle, ObservedLimiter } from '@sluice/limiter-core'
import { capChanges } from './cap-changes.ts'
import type { ControlAction, ControlledMode } from './control.ts'
import type { ControlBounds } from './control-bounds.ts'
import { EffectiveControls } from './effective-controls.ts'
import type { StoredControl } from './stored-control.ts'
import type { WatchedCaps } from './watched-caps.ts'
import type { WatchedLimiters } from './watched-limiters.ts'

export interface AppliedControlsDeps {
  readonly limiters: WatchedLimiters
  readonly caps: WatchedCaps
  readonly bounds: ControlBounds
  /** Returns ms since 1970. */
  readonly now: () => number
}

/** Changes that are applied to the observed limiters, within the bounds of this process. */
export class AppliedControls {
  readonly #deps: AppliedControlsDeps
  #active: readonly StoredControl[] = []
  #effective: EffectiveControls | undefined
  #ofCaps: ReadonlyMap<string, CapControls> = new Map()
  /** Reasons why a changed limit could not be applied, by policy. */
  #failures = new Map<string, string>()
  #failuresOfCaps = new Map<string, string>()

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
    const { bounds, limiters, caps, now } = this.#deps
    const allowed = active.filter(({ change }) => bounds.admits(change))
    this.#effective = new EffectiveControls(allowed, now)
    this.#failures = limiters.applyToAll(this.#effective)
    this.#ofCaps = capChanges(allowed, now)
    this.#failuresOfCaps = caps.applyToAll(this.#ofCaps)
  }

  /** Applies the changes to a cap created later. */
  applyToCap(cap: CapHandle): void {
    if (this.#ofCaps.size > 0) this.#deps.caps.apply(cap, this.#ofCaps)
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
  failureOf({ change }: StoredControl): string | undefined {
    const { action, policy, cap } = change
    if (!this.#deps.bounds.admits(change)) return refusalOf(change)
    if (action !== 'limit') return undefined
    return cap === undefined ? this.#failures.get(policy ?? '') : this.#failuresOfCaps.get(cap)
  }

  /** Mode that an operator has set for the policy, if any. */
  modeOf(policy: string): ControlledMode | undefined {
    return this.#effective?.modeOf(policy)
  }
}

function refusalOf({ action }: ControlAction): string {
  return action === 'mode'
    ? 'this process does not allow operators to enforce it'
    : 'the limit is outside the bounds configured in this process'
}
