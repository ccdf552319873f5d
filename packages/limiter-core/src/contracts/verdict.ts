import type { Policy } from './policy.ts'

/** What one policy answers. Durations are relative, so that no two clocks must agree. */
export interface Verdict {
  readonly allowed: boolean
  /** Whole units that could be taken right now, after this decision. */
  readonly remaining: number
  /** Whole ms until the same cost would fit; 0 when allowed, Infinity when it never can. */
  readonly retryAfterMs: number
  /** Milliseconds until the key is as good as new; 0 when it is. */
  readonly resetAfterMs: number
  /**
   * Whole ms until `remaining` grows, if nothing else comes; 0 for a key that is full. Of a denial of one unit it is
   * `retryAfterMs`. A guess while units are on lease.
   */
  readonly availableAfterMs: number
}

/** A verdict with the policy that gave it. */
export interface PolicyVerdict extends Verdict {
  readonly policy: Policy
  /** True for a policy in shadow: it is counted and shown to observers, and denies nobody. */
  readonly shadow: boolean
  /**
   * Of a quota with units that were bought on top: from which of both the units were taken, or, of a denial, which was
   * missing.
   */
  readonly fund?: Fund
}

/** Units that a period includes, or those that were bought on top of them. */
export type Fund = 'included' | 'top-up'

/**
 * A verdict as a backend answers it. One that cannot tell when `remaining` grows leaves that out: a decision then has
 * the latest instant at which it may, when the same cost fits, or of an allowed one when the key is as good as new.
 */
export type AnsweredVerdict = Omit<PolicyVerdict, 'availableAfterMs'> & Partial<Pick<PolicyVerdict, 'availableAfterMs'>>
