/** Distance of two requests, as a part of the usual one, below which the second is early, or part of a crowd. */
const [EARLY, CROWDED] = [0.98, 0.5]
/** Refused requests in crowds after which the burst is smaller. Accepted ones count against them by this weight. */
const [REFUSED_IN_CROWDS, ACCEPTED_WEIGHT] = [3, 0.3]
/** Below this part of what the rate permits, arrivals in bursts are what limits the requests. */
const STARVED = 0.6
const COMPARED_REQUESTS = 5
const ROUNDING = 1e-9

/** A request that was sent. */
export interface Sent {
  readonly atMs: number
  /** Whether it was sent faster than the rate after the request before it. */
  readonly isEarly: boolean
  /** Number of requests directly before it that were sent at least twice as fast as the rate. */
  readonly crowd: number
}

/** Sends requests at a rate without bursts, and in as large bursts as an upstream is found to accept. */
export class Pace {
  /** Requests per ms. `Infinity` sends all. */
  perMs: number = Infinity
  /** Number of requests that may be sent together after a time with fewer requests, besides the first. */
  burst: number = 0
  #tokens = 0
  #refilledAtMs = 0
  #last: Sent = { atMs: -Infinity, isEarly: false, crowd: 0 }
  #refusedInCrowds = 0
  /** Whether arrivals need the burst, or the upstream has accepted early requests. */
  #keepsBurst = false
  #sent = 0
  #permitted = 0
  #isLimited = false
  #isStarved = false

  get lastAtMs(): number {
    return this.#last.atMs
  }

  /** Whether a higher rate would send few more requests, since they arrive in bursts that the upstream may accept. */
  get needsBurst(): boolean {
    return this.#isStarved && this.#refusedInCrowds < REFUSED_IN_CROWDS - 1
  }

  /** Continues with `tokens` requests that may be sent at once. */
  restart(tokens: number, now: number): void {
    this.#tokens = tokens
    this.#refilledAtMs = now
    this.#sent = this.#permitted = 0
    this.#isStarved = false
  }

  /** Starts at a rate after a time without one. `isTolerant`: the upstream has accepted most requests, also early ones. */
  start(perMs: number, burst: number, isTolerant: boolean): void {
    this.perMs = perMs
    this.burst = burst
    this.#keepsBurst = isTolerant
  }

  /** Sends the first request after a pause alone. */
  pauseUntil(ms: number): void {
    this.#tokens = 1 - (ms - this.#refilledAtMs) * this.perMs
  }

  refill(now: number, mostMs: number): void {
    const ms = now - this.#refilledAtMs
    this.#refilledAtMs = now
    this.#tokens = Math.min(this.burst + 1, this.#tokens + ms * this.perMs)
    this.#permitted += this.perMs * Math.min(ms, mostMs)
  }

  take(now: number): Sent | undefined {
    const isPaced = this.perMs !== Infinity
    if (isPaced && this.#tokens < 1 - ROUNDING) {
      this.#isLimited = true
      return undefined
    }
    this.#sent++
    this.#tokens--
    const gap = isPaced ? (now - this.#last.atMs) * this.perMs : 1
    this.#last = { atMs: now, isEarly: gap < EARLY, crowd: gap < CROWDED ? this.#last.crowd + 1 : 0 }
    return this.#last
  }

  accept({ crowd }: Sent, mayWiden: boolean): void {
    if (crowd > 0) this.#refusedInCrowds = Math.max(0, this.#refusedInCrowds - ACCEPTED_WEIGHT)
    if (mayWiden && this.burst > 0 && crowd > this.burst - 1) this.burst++
  }

  /** Returns whether the burst explains why a request was refused, and makes it smaller. `isNew`: it was just started. */
  blamesBurst({ isEarly, crowd }: Sent, isNew: boolean): boolean {
    if (isEarly && this.burst > 0 && !this.#keepsBurst) {
      this.burst = 0
      return true
    }
    if (crowd === 0 || crowd > this.burst || (isNew && this.#keepsBurst)) return false
    if (++this.#refusedInCrowds < REFUSED_IN_CROWDS) return true
    this.#refusedInCrowds = REFUSED_IN_CROWDS - 1
    this.burst = Math.max(0, crowd - REFUSED_IN_CROWDS)
    return true
  }

  /** Compares what was sent with what the rate permits, and permits bursts if few requests were sent. */
  compare(mayWiden: boolean): void {
    if (this.#permitted < COMPARED_REQUESTS) return
    this.#isStarved = this.#isLimited && this.#sent < STARVED * this.#permitted
    this.#sent = this.#permitted = 0
    this.#isLimited = false
    if (!this.#isStarved || (!mayWiden && this.#keepsBurst)) return
    this.burst = Math.max(1, this.burst * 1.5)
    this.#keepsBurst = true
  }
}
