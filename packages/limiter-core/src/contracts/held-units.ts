/** Units of a key that one process may still spend and that the count already contains as used. */
export interface HeldUnits {
  /** `lease`: units that are leased and not yet spent. */
  readonly kind: 'lease'
  /** Integer, at least 1. */
  readonly units: number
  /** Milliseconds until unspent units are returned. */
  readonly endsAfterMs: number
}
