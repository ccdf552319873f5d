import type { Policy } from '@sluice/limiter-core'
import { EpochBook } from './epoch-book.ts'
import { msOf, type Rule, ticksOf } from './rule.ts'

/** Every slice that a window ending now touches counts whole. */
export function slicedWindowRule(policy: Policy): Rule {
  const slices = BigInt(policy.slices ?? 1)
  const length = ticksOf(policy.windowMs)
  const book = new EpochBook(length, slices)
  // from the newest to the oldest, which lies partly outside the window
  const touched = (now: bigint): bigint[] => {
    const newest = book.epochOf(now)
    return Array.from({ length: Number(slices) + 1 }, (_, age) => newest - BigInt(age))
  }
  // a search asks this hundreds of times
  const used = (now: bigint): bigint => {
    const newest = book.epochOf(now)
    return book.unitsFrom(newest - slices, newest)
  }
  return {
    fits: (now, cost) => used(now) + cost <= BigInt(policy.limit),
    record(now, cost) {
      if (used(now) === 0n) book.restart(now)
      book.add(book.epochOf(now), cost)
    },
    adjust(now, units, takenAt) {
      if (used(now) === 0n) {
        if (units < 0n || (now - takenAt) * slices >= length * (slices + 1n)) return 0
        book.restart(takenAt)
      }
      const slice = book.epochOf(takenAt)
      return touched(now).includes(slice) ? book.add(slice, units) : 0
    },
    resetAfterMs(now) {
      const last = touched(now).find((slice) => book.unitsOf(slice) > 0n)
      if (last === undefined) return 0
      return msOf(book.startOf(last + slices + 1n) - now * slices) / Number(slices)
    },
  }
}
