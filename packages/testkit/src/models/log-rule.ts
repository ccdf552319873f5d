import type { Policy } from '@sluice/limiter-core'
import { msOf, type Rule, ticksOf } from './rule.ts'

/** One timestamp per unit. A unit counts until one window after its take, exclusive. */
export function logRule(policy: Policy): Rule {
  const length = ticksOf(policy.windowMs)
  let times: bigint[] = []
  const live = (now: bigint): bigint[] => times.filter((time) => time + length > now)
  return {
    fits: (now, cost) => BigInt(live(now).length) + cost <= BigInt(policy.limit),
    record(now, cost) {
      times = [...live(now), ...new Array<bigint>(Number(cost)).fill(now)]
    },
    adjust(now, units, takenAt) {
      const before = live(now)
      if (takenAt + length <= now) return 0
      if (units > 0n) {
        const fitting = Math.min(Number(units), policy.limit - before.length)
        times = [...before, ...new Array<bigint>(fitting).fill(takenAt)]
        return fitting
      }
      // now, at which nothing was taken: a refund without a time refers to the newest units
      const newest =
        takenAt >= now && before.every((time) => time < takenAt) ? before.toSorted((a, b) => Number(b - a)) : []
      const mine = newest.length > 0 ? newest : before.filter((time) => time === takenAt)
      const kept = mine.slice(Math.min(mine.length, Number(-units)))
      times = newest.length > 0 ? kept : [...before.filter((time) => time !== takenAt), ...kept]
      return kept.length - mine.length
    },
    resetAfterMs(now) {
      const [last = now - length] = live(now).sort((a, b) => Number(b - a))
      return msOf(last + length - now)
    },
  }
}
