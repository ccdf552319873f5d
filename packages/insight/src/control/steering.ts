import type { LimiterControls } from '@sluice/limiter-core'
import { ActiveControls } from './active-controls.ts'
import type { StoredControl } from './stored-control.ts'

/** Changes as limiters take them, also where one of them cannot have every limit. */
export class Steering {
  /** All of them; undefined where nothing is to be steered. */
  readonly all: LimiterControls | undefined
  /** Policies whose limit is changed. */
  readonly limited: readonly string[]
  readonly #controls: readonly StoredControl[]
  readonly #now: () => number

  /** `controls`: oldest first. `now`: ms since 1970. */
  constructor(controls: readonly StoredControl[], now: () => number) {
    this.#controls = controls
    this.#now = now
    const limits = controls.flatMap(({ change }) => (change.action === 'limit' ? [change.policy] : []))
    this.limited = [...new Set(limits)]
    this.all = this.#made(controls)
  }

  /** How a policy is switched, where it is. */
  modeOf(policy: string): 'shadow' | 'off' | undefined {
    return this.all?.policies.get(policy)?.mode
  }

  /** All of them but the limits of such policies. */
  without(policies: ReadonlySet<string>): LimiterControls | undefined {
    return this.#made(this.#controls.filter(({ change }) => change.action !== 'limit' || !policies.has(change.policy)))
  }

  #made(controls: readonly StoredControl[]): LimiterControls | undefined {
    const made = new ActiveControls(controls, this.#now)
    return made.isEmpty ? undefined : made
  }
}
