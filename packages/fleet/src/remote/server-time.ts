/** How long a bound of the offset is used at least, in milliseconds. It is used for at most twice this time. */
const TERM_MS = 5_000

/**
 * The clock of a server, according to the process clock and the replies of the server. Each reply with the server's time
 * bounds the offset, because the server read its clock between the sending of the call and the arrival of the reply.
 * Clocks that are being adjusted drift apart by up to 0.5 ms per second, so bounds expire after two terms.
 */
export class ServerTime {
  /** Largest lower bound of this term; undefined before the first reply. */
  #least: number | undefined
  /** Largest lower bound of the previous term. */
  #leastBefore = Number.NEGATIVE_INFINITY
  /** Smallest upper bound of this term. */
  #most = Number.POSITIVE_INFINITY
  #startedAt = 0
  /** Process time of the last reply. */
  learnedAt: number = Number.NEGATIVE_INFINITY

  /**
   * Returns the time of the server in epoch ms at the process time `at`; undefined before the first reply. It is never too
   * late, except for the drift of the two clocks within ten seconds.
   */
  at(at: number): number | undefined {
    return this.#least === undefined ? undefined : at + Math.max(this.#least, this.#leastBefore)
  }

  /** Like `at`; the result is never too early. */
  notBefore(at: number): number | undefined {
    return this.#least === undefined ? undefined : at + this.#most
  }

  /** Records that the server's clock read `now` at a process time from `sentAt` to `receivedAt`. */
  replied(now: number, sentAt: number, receivedAt: number): void {
    const least = now - receivedAt
    const most = now - sentAt
    this.learnedAt = receivedAt
    const known = this.#least
    if (known === undefined || least > this.#most || most < Math.max(known, this.#leastBefore)) {
      // contradictory bounds: a clock was set, or another server replied
      this.#begin(least, Number.NEGATIVE_INFINITY, most, receivedAt)
    } else if (receivedAt - this.#startedAt >= TERM_MS) {
      this.#begin(least, known, most, receivedAt)
    } else {
      this.#least = Math.max(known, least)
      this.#most = Math.min(this.#most, most)
    }
  }

  #begin(least: number, leastBefore: number, most: number, startedAt: number): void {
    this.#least = least
    this.#leastBefore = leastBefore
    this.#most = most
    this.#startedAt = startedAt
  }
}
