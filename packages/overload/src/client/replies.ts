/** Replies to requests that were sent at one rate. */
export class Replies {
  /** When the first of these requests was sent. */
  #sinceMs = 0
  #all = 0
  #accepted = 0

  get accepted(): number {
    return this.#accepted
  }

  /** Part of the requests that were accepted. Half a request more keeps it from 0 and 1. */
  get share(): number {
    return (this.#accepted + 0.5) / (this.#all + 1)
  }

  add(sentAtMs: number, isAccepted: boolean): void {
    if (this.#all++ === 0) this.#sinceMs = sentAtMs
    if (isAccepted) this.#accepted++
  }

  clear(): void {
    this.#all = this.#accepted = 0
  }

  /** Gives later replies more weight. */
  age(now: number): void {
    this.#all /= 2
    this.#accepted /= 2
    this.#sinceMs = (this.#sinceMs + now) / 2
  }

  /** Accepted requests per ms, over at least `leastMs`. */
  acceptedPerMs(sentAtMs: number, leastMs: number): number {
    return (this.#accepted + 0.5) / Math.max(leastMs, sentAtMs - this.#sinceMs)
  }
}
