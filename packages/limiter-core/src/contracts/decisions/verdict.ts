import type { Policy } from './policy.ts'

/** The result of one policy. Durations are relative, so clocks of different machines need not agree. */
export interface Verdict {
  readonly allowed: boolean
  /** Units, an integer, that are left after this decision; 0 for a key in debt. */
  readonly remaining: number
  /** Milliseconds, an integer, until the same cost would fit; 0 if allowed, Infinity if it can never fit. */
  readonly retryAfterMs: number
  /** Milliseconds until the key is unused again; 0 for an unused key. */
  readonly resetAfterMs: number
  /**
   * Milliseconds, an integer, until `remaining` increases if no other request arrives; 0 for an unused key. For a
   * denied request of one unit it equals `retryAfterMs`. An estimate while units are leased.
   */
  readonly availableAfterMs: number
}

/** A verdict and the policy that produced it. */
export interface PolicyVerdict extends Verdict {
  readonly policy: Policy
  /** Whether the policy is in shadow mode: it is counted and reported to observers, but denies nothing. */
  readonly shadow: boolean
  /** Units that a quota with purchased units took or, for a denial, that were insufficient. */
  readonly fund?: Fund
}

/** Origin of quota units: included in the period, or purchased in addition. */
export type Fund = 'included' | 'top-up'

/**
 * A verdict as a backend returns it. A backend that cannot compute `availableAfterMs` may omit it; decisions then use
 * `retryAfterMs` for a denial and `resetAfterMs`, rounded up, otherwise.
 */
export interface BackendVerdict extends Omit<PolicyVerdict, 'availableAfterMs'> {
  readonly availableAfterMs?: number
  /** Used units without booked turns, and without leased units if the cost was 0. Default: all that are not left. */
  readonly spent?: number
  /** Held units of the key. Returned by backends that hold units and may lose counts. Default: 0. */
  readonly held?: number
}
