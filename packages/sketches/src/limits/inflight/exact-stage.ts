interface ExactCount {
  /** Places that were granted here and are held. At least 1: a key without any is removed. */
  places: number
  /** Upper bound of the places that the key still holds in the sketch. It only decreases. */
  earlier: number
}

/**
 * The exactly counted keys of a cap, one entry each. A key enters with its estimate in the sketch: its own places
 * there, plus possibly those of others. From then on it adds nothing to the sketch, and additions of others there do
 * not affect it. It leaves when all places granted here have been released; its earlier places have been in the
 * sketch throughout.
 */
export class ExactStage {
  readonly #counts = new Map<string, ExactCount>()

  has(key: string): boolean {
    return this.#counts.has(key)
  }

  /** Returns the places that `key` holds, or more, if the sketch estimates `seen`. */
  held(key: string, seen: number): number {
    const count = this.#counts.get(key)
    if (!count) return seen
    // an estimate that has decreased proves that fewer places are left there
    if (seen < count.earlier) count.earlier = seen
    return count.places + count.earlier
  }

  /** Grants places to a key for which the sketch estimates `seen`. */
  add(key: string, weight: number, seen: number): void {
    const count = this.#counts.get(key)
    if (count) count.places += weight
    else this.#counts.set(key, { places: weight, earlier: seen })
  }

  /** Takes places back that were given here. */
  take(key: string, weight: number): void {
    const count = this.#counts.get(key)
    if (!count) return
    count.places -= weight
    if (count.places === 0) this.#counts.delete(key)
  }

  /** Releases places that the key held in the sketch. */
  returned(key: string, weight: number): void {
    const count = this.#counts.get(key)
    if (count) count.earlier -= weight
  }
}
