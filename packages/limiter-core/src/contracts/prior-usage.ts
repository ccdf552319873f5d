/** The state of a key as it can be told without its cells. */
export interface PriorUsage {
  /** Units that the backend once told were used, as they would be used by now; 0 where there is nothing to tell of them. */
  readonly used: number
  /** Milliseconds until the key is as good as new; more than 0. */
  readonly resetAfterMs: number
  /**
   * Milliseconds since the backend told `used`. A backend that lost nothing since passes it over; so does one that
   * reset the key since, or gave units back. Where it is not said, `used` is believed.
   */
  readonly ageMs?: number | undefined
  readonly admitted?: Admitted | undefined
}

/** Units that a caller admitted while no backend answered: they are counted when they are told, once, up to the limit. */
export interface Admitted {
  /** Those that the backend did not count. */
  readonly uncounted: number
  /** Those that it may have counted, since only its answer is missing: it counts as many as are missing up to `upTo` used. */
  readonly unsure: number
  readonly upTo: number
  /** Milliseconds since the last of them. A backend that reset the key since passes them over. */
  readonly ageMs: number
}
