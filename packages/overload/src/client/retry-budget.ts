/** Number of requests whose share of retries can be saved up. */
const SAVED_REQUESTS = 100

/** Token bucket that bounds the retries of an upstream to a share of its requests. */
export class RetryBudget {
  readonly #share: number
  #tokens: number

  constructor(share: number) {
    this.#share = share
    this.#tokens = share * SAVED_REQUESTS
  }

  /** Adds the share of one request. */
  deposit(): void {
    this.#tokens = Math.min(this.#share * SAVED_REQUESTS, this.#tokens + this.#share)
  }

  /** Takes one retry. Returns false if there is none. */
  withdraw(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
