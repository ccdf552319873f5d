import { RANK_COUNT } from '../priority/levels.ts'

/**
 * Decides which requests of a rank are refused, so that their share is the given probability over few requests. A
 * purely random choice refuses and admits in runs, which makes the load fluctuate. A fixed order always refuses the
 * same one of two clients that take turns.
 */
export class EvenRefusals {
  readonly #random: () => number
  readonly #due = new Float64Array(RANK_COUNT)

  constructor(random: () => number) {
    this.#random = random
  }

  /** `probability` is from 0 to 1. */
  refuses(rank: number, probability: number): boolean {
    if (probability <= 0) return false
    if (probability >= 1) return true
    const due = (this.#due[rank] as number) + probability
    const isRefused = this.#random() < due
    this.#due[rank] = isRefused ? due - 1 : due
    return isRefused
  }
}
