import type { LimiterControls } from '@sluice/limiter-core'
import { ActiveControls } from './active-controls.ts'
import type { StoredControl } from './stored-control.ts'

/** Changes as limiters take them, also where one of them cannot have every limit. */
export class Steering {
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
  }

  /** How a policy is switched, where it is. */
  modeOf(policy: string): 'shadow' | 'off' | undefined {
    return this.without(NONE)?.policies.get(policy)?.mode
  }

  /** All of them but the limits of such policies; undefined where nothing is left to steer. */
  without(policies: ReadonlySet<string>): LimiterControls | undefined {
    const left = this.#controls.filter(({ change }) => change.action !== 'limit' || !policies.has(change.policy))
    const controls = new ActiveControls(left, this.#now)
    return controls.isEmpty ? undefined : controls
  }
}

const NONE: ReadonlySet<string> = new Set()
