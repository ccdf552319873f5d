/** Requests per second that are all measured. */
const ALL = 100
/** Interval of the sample: one in this many of the requests beyond `ALL` is measured. */
const SAMPLE_INTERVAL = 8

/** Selects the requests whose response time is measured: all at low traffic, and a sample at high traffic. */
export class RequestSample {
  readonly #random: () => number
  #seen = 0

  /** `random` returns a number from 0 (inclusive) to 1 (exclusive). */
  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  /** Returns the number of requests that this measurement represents; 0 if the request is not measured. */
  weight(): number {
    if (++this.#seen <= ALL) return 1
    return this.#random() * SAMPLE_INTERVAL < 1 ? SAMPLE_INTERVAL : 0
  }

  /** Called once per second. */
  advance(): void {
    this.#seen = 0
  }
}
