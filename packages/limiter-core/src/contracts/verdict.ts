import type { Policy } from './policy.ts'

/** The result of one policy. Durations are relative, so that clocks need not agree. */
export interface Verdict {
  readonly allowed: boolean
  /** Whole units that could be taken right now, after this decision. */
  readonly remaining: number
  /** Whole ms until the same cost would fit; 0 when allowed, Infinity when it never can. */
  readonly retryAfterMs: number
  /** Milliseconds until the key is as good as new; 0 when it is. */
  readonly resetAfterMs: number
  /**
   * Milliseconds, an integer, until `remaining` grows if no other request comes; 0 for an unused key. For a denied
   * request of one unit it equals `retryAfterMs`. An estimate while units are leased.
   */
  readonly availableAfterMs: number
}

/** A verdict with the policy that gave it. */
export interface PolicyVerdict extends Verdict {
  readonly policy: Policy
  /** Whether the policy is in shadow mode: it is counted and reported to observers, and denies nothing. */
  readonly shadow: boolean
  /** For a quota with purchased units: where the units were taken from, or, for a denial, which were insufficient. */
  readonly fund?: Fund
}

/** Units included in a period, or purchased in addition. */
export type Fund = 'included' | 'top-up'

/**
 * A verdict as a backend returns it. A backend that cannot compute `availableAfterMs` may omit it: a decision then
 * uses `retryAfterMs` for a denial and `resetAfterMs` otherwise.
 */
export type AnsweredVerdict = Omit<PolicyVerdict, 'availableAfterMs'> & Partial<Pick<PolicyVerdict, 'availableAfterMs'>>
