import type { Policy } from '@sluice/limiter-core'
import { EpochBook } from './epoch-book.ts'
import { msOf, type Rule, ticksOf } from './rule.ts'

/**
 * Epochs of one window. The previous epoch counts by the part that a window ending now still covers, and no longer
 * once its last unit has left. That time is known if the epoch before it no longer counted; otherwise the end of the
 * epoch is assumed.
 */
export function twoEpochRule(policy: Policy): Rule {
  return new TwoEpochRule(BigInt(policy.limit), ticksOf(policy.windowMs))
}

class TwoEpochRule implements Rule {
  readonly #limit: bigint
  readonly #length: bigint
  readonly #book: EpochBook
  readonly #lasts = new Map<bigint, bigint>()

  constructor(limit: bigint, length: bigint) {
    this.#limit = limit
    this.#length = length
    this.#book = new EpochBook(length, 1n)
  }

  fits(now: bigint, cost: bigint): boolean {
    const epoch = this.#book.epochOf(now)
    const left = this.#book.startOf(epoch + 1n) - now
    const before = this.#counts(now) ? this.#book.unitsOf(epoch - 1n) : 0n
    return before * left + (this.#book.unitsOf(epoch) + cost) * this.#length <= this.#limit * this.#length
  }

  record(now: bigint, cost: bigint): void {
    if (this.#idle(now)) this.#restart(now)
    this.#settle(now)
    this.#add(this.#book.epochOf(now), cost, now, now)
  }

  adjust(now: bigint, units: bigint, takenAt: bigint): number {
    if (now >= takenAt + this.#length) return 0
    // a refund without effect leaves the epochs unchanged
    if (units < 0n && this.#held(this.#book.epochOf(takenAt), now) === 0n) return 0
    if (this.#idle(now)) this.#restart(takenAt)
    this.#settle(now)
    if (units > 0n && this.#limit === 1n) this.#startEarlier(now, takenAt)
    return this.#add(this.#book.epochOf(takenAt), units, takenAt, now)
  }

  resetAfterMs(now: bigint): number {
    const running = this.#book.epochOf(now)
    if (this.#book.unitsOf(running) > 0n) {
      // behind an epoch that has units, though they count no more
      const last = this.#book.unitsOf(running - 1n) > 0n ? this.#book.startOf(running + 1n) : this.#lastOf(running)
      return msOf(last + this.#length - now)
    }
    return this.#counts(now) ? msOf(this.#lastOf(running - 1n) + this.#length - now) : 0
  }

  #add(epoch: bigint, units: bigint, at: bigint, now: bigint): number {
    const running = this.#book.epochOf(now)
    const countedBefore = this.#book.unitsOf(running - 1n) > 0n
    if (units > 0n) this.#noteLast(epoch, at)
    const moved = this.#book.add(epoch, units)
    const countsBefore = this.#book.unitsOf(running - 1n) > 0n
    // one last unit is known: that of the epoch before while that counts
    if (countsBefore) this.#lasts.delete(running)
    else if (countedBefore) this.#lasts.set(running, now)
    return moved
  }

  /** Returns the units of an epoch that can be refunded. */
  #held(epoch: bigint, now: bigint): bigint {
    return epoch < this.#book.epochOf(now) && !this.#counts(now) ? 0n : this.#book.unitsOf(epoch)
  }

  #noteLast(epoch: bigint, at: bigint): void {
    const last = this.#lasts.get(epoch)
    if (this.#book.unitsOf(epoch) === 0n || (last !== undefined && last < at)) this.#lasts.set(epoch, at)
  }

  #lastOf(epoch: bigint): bigint {
    return this.#lasts.get(epoch) ?? this.#book.startOf(epoch + 1n)
  }

  /** Whether units of the epoch before still count. */
  #counts(now: bigint): boolean {
    const epoch = this.#book.epochOf(now) - 1n
    return this.#book.unitsOf(epoch) > 0n && now < this.#lastOf(epoch) + this.#length
  }

  #idle(now: bigint): boolean {
    return this.#book.unitsOf(this.#book.epochOf(now)) === 0n && !this.#counts(now)
  }

  #restart(at: bigint): void {
    this.#book.restart(at)
    this.#lasts.clear()
  }

  /** Without units before it, an epoch of a limit of 1 starts with its earliest take: a ban ends with its last unit. */
  #startEarlier(now: bigint, takenAt: bigint): void {
    const running = this.#book.epochOf(now)
    if (this.#book.unitsOf(running - 1n) > 0n || takenAt >= this.#book.startOf(running)) return
    const [units, last] = [this.#book.unitsOf(running), this.#lastOf(running)]
    this.#restart(takenAt)
    this.#book.add(0n, units)
    this.#lasts.set(0n, last)
  }

  /** Forgets an epoch that no longer counts, so that the last unit of the current one becomes known. */
  #settle(now: bigint): void {
    const running = this.#book.epochOf(now)
    const units = this.#book.unitsOf(running - 1n)
    if (units === 0n || this.#counts(now)) return
    this.#book.add(running - 1n, -units)
    this.#lasts.set(running, now)
  }
}
