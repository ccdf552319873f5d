/** Usage of a key, independent of its cells. */
export interface PriorUsage {
  /** Used units that the backend once reported, reduced to the present; 0 if there are none to report. */
  readonly used: number
  /** Milliseconds until the key is as good as new; more than 0. */
  readonly resetAfterMs: number
  /**
   * Milliseconds since the backend reported `used`. A backend that has lost nothing since then ignores it, as does
   * one that has reset or refunded the key since. If omitted, `used` is trusted.
   */
  readonly ageMs?: number | undefined
  readonly admitted?: Admitted | undefined
}

/**
 * Units that a caller admitted while no backend answered. They are counted once when they are reported, up to the
 * limit.
 */
export interface Admitted {
  /** Units that the backend did not count. */
  readonly uncounted: number
  /**
   * Units that the backend may have counted, because only its reply is missing. It counts as many as are missing up
   * to a usage of `upTo`.
   */
  readonly unsure: number
  readonly upTo: number
  /** Milliseconds since the last of them. A backend that reset the key since passes them over. */
  readonly ageMs: number
}
