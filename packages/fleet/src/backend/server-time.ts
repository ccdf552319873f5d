/** How long a bound of the offset is used at least, in milliseconds. It is used for at most twice this time. */
const KEPT_MS = 5_000

/**
 * The server's clock, according to the process clock and the replies of the server. The estimate is never ahead of the
 * server, except for the drift of the two clocks within ten seconds.
 */
export class ServerTime {
  #current: number | undefined
  #before = Number.NEGATIVE_INFINITY
  #startedAt = 0

  /** Returns the time of the server in epoch ms at the process time `at`; undefined before the first reply. */
  at(at: number): number | undefined {
    return this.#current === undefined ? undefined : at + Math.max(this.#current, this.#before)
  }

  /** Records that the server's clock read `now` at a process time from `sentAt` to `receivedAt`. */
  replied(now: number, sentAt: number, receivedAt: number): void {
    const least = now - receivedAt
    const most = now - sentAt
    const known = this.#current
    if (known === undefined || Math.max(known, this.#before) > most) {
      this.#current = least
      this.#before = Number.NEGATIVE_INFINITY
      this.#startedAt = receivedAt
    } else if (receivedAt - this.#startedAt > KEPT_MS) {
      this.#before = known
      this.#current = least
      this.#startedAt = receivedAt
    } else this.#current = Math.max(known, least)
  }
}
