import { RedisHyperLogLog } from '@sluice/sketches'

/** The unique keys of one time, as one key of Redis counts them. */
export class UniquesPeriod {
  /** Which window it is; undefined of one that never ends, and as long as nobody knows. */
  index: number | undefined
  /** What this process saw. */
  readonly seen: RedisHyperLogLog = new RedisHyperLogLog()
  /** True where `seen` may have more than Redis. */
  news = false
  /** What Redis counted last. */
  counted = 0
  // what Redis has of `seen` for certain; dense, in which merging is quickest
  readonly #known: RedisHyperLogLog = new RedisHyperLogLog({ sparseMaxBytes: 0 })
  #born = ''
  // how often Redis may have lost something, now and when something was sent last
  #losses = 0
  #lossesBefore = 0

  /** What Redis may lack, what is on its way included. */
  lacking(): RedisHyperLogLog | undefined {
    return this.seen.beyond(this.#known)
  }

  /** What is to be sent. */
  next(): RedisHyperLogLog | undefined {
    const sent = this.news ? this.lacking() : undefined
    this.news = false
    this.#lossesBefore = this.#losses
    return sent
  }

  /** Redis has merged `sent`. False where it has lost what it had before: then all of it is news again. */
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
