import { RedisHyperLogLog } from '@sluice/sketches'

/** The unique keys of one time, as one key of Redis counts them. */
export class UniquesPeriod {
  /** Number of the window; undefined if it never ends, or while it is unknown. */
  index: number | undefined
  /** Keys seen by this process. */
  readonly seen: RedisHyperLogLog = new RedisHyperLogLog()
  /** True where `seen` may have more than Redis. */
  news = false
  /** Last count reported by Redis. */
  counted = 0
  // what Redis certainly has of `seen`; dense, which merges fastest
  readonly #known: RedisHyperLogLog = new RedisHyperLogLog({ sparseMaxBytes: 0 })
  #born = ''
  // how often Redis may have lost something, now and when something was sent last
  #losses = 0
  #lossesBefore = 0

  /** Returns what Redis may lack, including pending registers. */
  lacking(): RedisHyperLogLog | undefined {
    return this.seen.beyond(this.#known)
  }

  /** Returns what to send. */
  next(): RedisHyperLogLog | undefined {
    const sent = this.news ? this.lacking() : undefined
    this.news = false
    this.#lossesBefore = this.#losses
    return sent
  }

  /** Redis has merged `sent`. Returns false if it has lost its earlier data: then everything must be sent again. */
  acknowledged(sent: RedisHyperLogLog | undefined, born: string, counted: number): boolean {
    const lost = this.#born !== '' && this.#born !== born
    this.counted = counted
    if (sent && this.#losses === this.#lossesBefore) this.#known.merge(sent)
    if (lost) this.again()
    this.#born = born
    return !lost
  }

  /** Redis may have lost anything. */
  again(): void {
    this.#losses++
    this.#known.clear()
    this.news = true
  }
}
