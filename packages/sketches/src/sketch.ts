/** Methods of every sketch. */
export interface Sketch<Same> {
  /** Adds what `other` has counted, which is not changed. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: Same): void
  /** Forgets everything. */
  clear(): void
  /** Returns a copy of its state, for `fromBytes`. */
  toBytes(): Uint8Array
}
