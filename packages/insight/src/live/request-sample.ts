/** Requests of a second that are all measured. */
const ALL = 100
/** Of those that follow, one of so many. */
const ONE_OF = 8

/** Which requests are measured to their end: all where they are few, and of many enough for percentiles. */
export class RequestSample {
  readonly #random: () => number
  #seen = 0

  /** `random`: from 0 to below 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  /** For how many requests this one stands; 0 where it is not measured. */
  weight(): number {
    if (++this.#seen <= ALL) return 1
    return this.#random() * ONE_OF < 1 ? ONE_OF : 0
  }

  /** Once a second. */
  advance(): void {
    this.#seen = 0
  }
}
