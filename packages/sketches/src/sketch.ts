/** What every sketch can do. */
export interface Sketch<Same> {
  /** Adds what `other` has seen, as if this one had seen it too. `other` is not changed. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: Same): void
  /** Forgets everything. */
  clear(): void
  /** A copy of its state, for `fromBytes`. */
  toBytes(): Uint8Array
}
