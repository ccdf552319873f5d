import { RedisHyperLogLog } from '@sluice/sketches'

/** Unique keys of one window, or of all time without windows. Each period has its own Redis key. */
export class UniquesPeriod {
  /** Number of the window; undefined without windows, or while the number is unknown. */
  index: number | undefined
  /** Keys seen by this process. */
  readonly seen: RedisHyperLogLog = new RedisHyperLogLog()
  /** Whether `seen` may contain registers that have not been sent. */
  hasChanges = false
  /** Last count reported by Redis. */
  counted = 0
  /** Registers of `seen` that Redis has acknowledged, in the dense form, which merges fastest. */
  readonly #known: RedisHyperLogLog = new RedisHyperLogLog({ sparseMaxBytes: 0 })
  /** Id of the data in Redis, which changes if the data is lost; '' before the first reply. */
  #born = ''
  /** Number of times that Redis may have lost data. */
  #losses = 0
  /** Value of `#losses` at the last call of `next`. */
  #lossesBefore = 0

  /** Returns the registers that Redis may lack, including pending ones; undefined if there are none. */
  unsent(): RedisHyperLogLog | undefined {
    return this.seen.beyond(this.#known)
  }

  /** Returns the registers to send; undefined if there are none. */
  next(): RedisHyperLogLog | undefined {
    const sent = this.hasChanges ? this.unsent() : undefined
    this.hasChanges = false
    this.#lossesBefore = this.#losses
    return sent
  }

  /**
   * Records that Redis has merged `sent` and reported `counted`. Returns false if Redis has lost its earlier data; then
   * everything is sent again.
   */
  acknowledged(sent: RedisHyperLogLog | undefined, born: string, counted: number): boolean {
    const lost = this.#born !== '' && this.#born !== born
    this.counted = counted
    if (sent && this.#losses === this.#lossesBefore) this.#known.merge(sent)
    if (lost) this.resendAll()
    this.#born = born
    return !lost
  }

  /** Sends everything again, because Redis may have lost data. */
  resendAll(): void {
    this.#losses++
    this.#known.clear()
    this.hasChanges = true
  }
}
