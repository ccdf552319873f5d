/** Usage of a key that its backend may have lost or never received. Does not depend on the cell layout. */
export interface PriorUsage {
  /** Units that the backend once reported as used and that still count now; 0 if there are none to restore. */
  readonly used: number
  /** Part of `used` that was held, and is held again until its hold is settled or over. Default: 0. */
  readonly held?: number | undefined
  /** Milliseconds until the key is unused again, more than 0. */
  readonly resetAfterMs: number
  /**
   * Milliseconds since the call whose reply reported `used`. A backend ignores `used` if it has lost nothing, or has
   * reset or refunded the key, since then. If `ageMs` is undefined, the backend always restores `used`.
   */
  readonly ageMs?: number | undefined
  /** Milliseconds since the reply that reported `used`, at most `ageMs`, which is the default. */
  readonly replyAgeMs?: number | undefined
  /** Units that this process admitted while the backend was unavailable. */
  readonly admitted?: AdmittedUnits | undefined
}

/** Units that a process admitted while the backend was unavailable. The backend counts them once, up to the limit. */
export interface AdmittedUnits {
  /** Units that the backend certainly did not count. */
  readonly uncounted: number
  /**
   * Units that the backend may have counted, because only its reply is missing. The backend adds as many of them as its
   * usage is below `upTo`.
   */
  readonly unsure: number
  /** Usage of the key if all `unsure` units were counted. */
  readonly upTo: number
  /** Milliseconds since the last of the units. A backend that has reset the key since then ignores all of them. */
  readonly ageMs: number
}
