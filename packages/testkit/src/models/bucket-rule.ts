import type { Policy } from '@sluice/limiter-core'
import { msOf, type Rule, TICKS_PER_MS, ticksOf } from './rule.ts'

/** The stated epsilon of the algorithms that count in doubles: one millionth of a second, at most half a unit. */
const EPSILON_PER_MS = 1_000n

/**
 * Used units drain at limit / window, up to the capacity. Stored as units times the window in ticks, which drain by
 * `limit` per tick, so that all numbers are integers.
 */
export function bucketRule(policy: Policy): Rule {
  const limit = BigInt(policy.limit)
  const length = ticksOf(policy.windowMs)
  const full = BigInt(policy.burst ?? policy.limit) * length
  let used = 0n
  let usedAt = 0n
  const usedNow = (now: bigint): bigint => {
    const left = used - (now - usedAt) * limit
    return left < 0n ? 0n : left
  }
  const write = (now: bigint, scaled: bigint): void => {
    used = scaled
    usedAt = now
  }
  return {
    fits(now, cost) {
      const tooMuch = usedNow(now) + cost * length - full
      return tooMuch * EPSILON_PER_MS <= limit * TICKS_PER_MS && tooMuch * 2n <= length
    },
    record: (now, cost) => write(now, usedNow(now) + cost * length),
    adjust(now, units, takenAt) {
      const before = usedNow(now)
      if (units > 0n) {
        write(now, before + units * length)
        return Number(units)
      }
      // units that have drained, or may have, cannot be refunded
      const left = -units * length - (now - takenAt) * limit
      const refund = left < 0n ? 0n : left < before ? left : before
      write(now, before - refund)
      return -Number(refund) / Number(length)
    },
    resetAfterMs: (now) => msOf(usedNow(now)) / policy.limit,
  }
}
