import type { CountEstimate, Fund, HeldUnits } from '@sluice/limiter-core'
import type { ControlEntry } from '../control/control.ts'
import type { DenialSnapshot } from '../live/report/snapshot.ts'

/** Explanation of the limits of one key. Durations are in ms; times are ms since 1970. */
export interface Explanation {
  readonly at: number
  /** The key, displayed according to `privacy`. */
  readonly key: string
  readonly cost: number
  /** The explanation as sentences, most urgent first. */
  readonly summary: readonly string[]
  /**
   * Policies of all observed limiters in this process, at most 200. Policies that are configured as off are left out. A
   * key that a policy has never counted appears as unused.
   */
  readonly policies: readonly PolicyExplanation[]
  /** Active operator changes that apply to this key. */
  readonly controls: readonly ControlEntry[]
  /** Recent denials of this key, latest first, at most 20. */
  readonly denials: readonly DenialSnapshot[]
  /** Whether `denials` covers all processes; false if it covers this process only. */
  readonly isWholeFleet: boolean
}

export interface PolicyExplanation {
  readonly policy: string
  readonly mode: 'enforce' | 'shadow' | 'off'
  readonly backend: string
  /** Whether the count covers this process only. */
  readonly perProcess: boolean
  /** Limit that applies to this key: its override, or the limit of the policy (the burst of a bucket). */
  readonly limit: number
  readonly isOverride: boolean
  readonly windowMs: number
  readonly unit: string
  /** Whether the key is exempt. If true, the usage fields below have no meaning. */
  readonly isExempt: boolean
  /** Used units, including units leased to this process. */
  readonly used: number
  readonly remaining: number
  /** Result for a request of one unit (`one`) and for a request of `cost` units (`asked`). */
  readonly singleUnit: ExpectedDecision
  readonly requested: ExpectedDecision
  /** Time until `remaining` grows; 0 if nothing is used. */
  readonly availableAfterMs: number
  /** Time until the key has its full limit again. */
  readonly resetAfterMs: number
  /** Fund of a quota that lacks units, or that would be charged. */
  readonly fund?: Fund | undefined
  /** Whether the backend answered; false if a failure rule decided or the peek failed. */
  readonly isCounted: boolean
  /** Source of the answer: `memory`, `redis`, `local`, … If the peek failed, the error message. */
  readonly source: string
  readonly held: readonly HeldUnits[]
  /**
   * If present, `used`, `remaining` and the durations are estimates of this process: they contain what it has not
   * reported yet, and miss what other processes took since its last exchange.
   */
  readonly estimate?: CountEstimate | undefined
  readonly text: string
}

export interface ExpectedDecision {
  readonly allowed: boolean
  /** Time until the request would be allowed; null if it can never be allowed. */
  readonly retryAfterMs: number | null
}
