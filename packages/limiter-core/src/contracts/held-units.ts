/** Units of a key that one process holds apart from the count. */
export interface HeldUnits {
  /** `lease`: leased and not yet spent; the count treats these units as used. */
  readonly kind: 'lease'
  /** Whole units, at least 1. */
  readonly units: number
  /** Milliseconds until they go back. */
  readonly endsAfterMs: number
}
