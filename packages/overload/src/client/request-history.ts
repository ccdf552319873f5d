const SLICES = 12

/** Number of requests, and of those that the upstream accepted, in a sliding window of twelve slices. */
export class RequestHistory {
  readonly #sliceMs: number
  readonly #requests = new Float64Array(SLICES)
  readonly #accepts = new Float64Array(SLICES)
  #slice = 0
  #totalRequests = 0
  #totalAccepts = 0

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES
  }

  add(isAccepted: boolean, now: number): void {
    this.#advance(now)
    const at = this.#slice % SLICES
    this.#requests[at]++
    this.#totalRequests++
    if (!isAccepted) return
    this.#accepts[at]++
    this.#totalAccepts++
  }

  requests(now: number): number {
    this.#advance(now)
    return this.#totalRequests
  }

  accepts(now: number): number {
    this.#advance(now)
    return this.#totalAccepts
  }

  #advance(now: number): void {
    const slice = Math.floor(now / this.#sliceMs)
    const ended = Math.min(SLICES, slice - this.#slice)
    if (ended <= 0) return
    for (let back = 0; back < ended; back++) {
      const at = (slice - back) % SLICES
      this.#totalRequests -= this.#requests[at]
      this.#totalAccepts -= this.#accepts[at]
      this.#requests[at] = 0
      this.#accepts[at] = 0
    }
    this.#slice = slice
  }
}
