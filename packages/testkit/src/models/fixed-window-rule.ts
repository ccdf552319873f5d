import type { Policy } from '@sluice/limiter-core'
import { added, msOf, type Rule, ticksOf } from './rule.ts'

/** A window starts at the first take after the last one ended; a window without units does not exist. */
export function fixedWindowRule(policy: Policy): Rule {
  const limit = BigInt(policy.limit)
  const length = ticksOf(policy.windowMs)
  let window: { readonly start: bigint; readonly units: bigint } | undefined
  const open = (now: bigint): typeof window => (window && now < window.start + length ? window : undefined)
  const write = (start: bigint, units: bigint): void => {
    window = units === 0n ? undefined : { start, units }
  }
  return {
    fits: (now, cost) => (open(now)?.units ?? 0n) + cost <= limit,
    record: (now, cost) => write(open(now)?.start ?? now, (open(now)?.units ?? 0n) + cost),
    adjust(now, units, takenAt) {
      const current = open(now)
      if (current) {
        if (takenAt < current.start) return 0
        const left = added(current.units, units)
        write(current.start, left)
        return Number(left - current.units)
      }
      const passed = window !== undefined && takenAt < window.start + length
      if (units < 0n || passed || now >= takenAt + length) return 0
      write(takenAt, units)
      return Number(units)
    },
    resetAfterMs(now) {
      const current = open(now)
      return current ? msOf(current.start + length - now) : 0
    },
  }
}
