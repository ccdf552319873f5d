import type { Policy } from '@sluice/limiter-core'
import { EpochBook } from './epoch-book.ts'
import { msOf, type Rule, ticksOf } from './rule.ts'

/** Epochs of one window; the one before counts by the part of it that a window ending now still covers. */
export function twoEpochRule(policy: Policy): Rule {
  const length = ticksOf(policy.windowMs)
  const book = new EpochBook(length, 1n)
  const current = (now: bigint): bigint => book.unitsOf(book.epochOf(now))
  const previous = (now: bigint): bigint => book.unitsOf(book.epochOf(now) - 1n)
  const idle = (now: bigint): boolean => current(now) === 0n && previous(now) === 0n
  const leftOfEpoch = (now: bigint): bigint => book.startOf(book.epochOf(now) + 1n) - now
  return {
    fits: (now, cost) =>
      previous(now) * leftOfEpoch(now) + (current(now) + cost) * length <= BigInt(policy.limit) * length,
    record(now, cost) {
      if (idle(now)) book.restart(now)
      book.add(book.epochOf(now), cost)
    },
    adjust(now, units, takenAt) {
      if (idle(now)) {
        if (units < 0n || now >= takenAt + 2n * length) return 0
        book.restart(takenAt)
      }
      const epoch = book.epochOf(takenAt)
      return epoch < book.epochOf(now) - 1n ? 0 : book.add(epoch, units)
    },
    resetAfterMs(now) {
      if (current(now) > 0n) return msOf(leftOfEpoch(now) + length)
      return previous(now) > 0n ? msOf(leftOfEpoch(now)) : 0
    },
  }
}
