interface ExactCount {
  /** Places that were given here and are held. At least 1: a key that holds none of these is not here. */
  places: number
  /** No fewer than the places that the key still holds in the sketch. It only falls. */
  earlier: number
}

/**
 * The keys of a cap that are counted exactly, each by an entry. A key comes with what the sketch said of it, which is
 * what it held there and maybe what others did. From then on nothing is added for it there, and what others add there
 * is not charged to it. It leaves when what it was given here has come back; what it still holds from before has been
 * in the sketch all the while.
 */
export class ExactStage {
  readonly #counts = new Map<string, ExactCount>()

  has(key: string): boolean {
    return this.#counts.has(key)
  }

  /** Places that `key` holds in all, or more, where the sketch says `seen`. */
  held(key: string, seen: number): number {
    const count = this.#counts.get(key)
    if (!count) return seen
    // a sketch that says less than it once did proves that less is left there
    if (seen < count.earlier) count.earlier = seen
    return count.places + count.earlier
  }

  /** Gives places to a key of which the sketch says `seen`. */
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

  /** Places came back that the key held in the sketch. */
  returned(key: string, weight: number): void {
    const count = this.#counts.get(key)
    if (count) count.earlier -= weight
  }
}
