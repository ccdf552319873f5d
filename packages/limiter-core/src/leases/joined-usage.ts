import type { Admitted, PriorUsage } from '../contracts.ts'

/** Merges what several callers know about one key: the largest reported usage, and all admitted units. */
export function joinedUsage(all: readonly PriorUsage[]): PriorUsage | undefined {
  const telling = all.filter(({ used, admitted }) => used > 0 || admitted)
  return telling.length > 1 ? telling.reduce(joined) : telling[0]
}

function joined(one: PriorUsage, other: PriorUsage): PriorUsage {
  const more = other.used > one.used ? other : one
  return {
    used: more.used,
    resetAfterMs: Math.max(one.resetAfterMs, other.resetAfterMs),
    ageMs: more.ageMs,
    admitted: one.admitted && other.admitted ? sum(one.admitted, other.admitted) : (one.admitted ?? other.admitted),
  }
}

function sum(one: Admitted, other: Admitted): Admitted {
  return {
    uncounted: one.uncounted + other.uncounted,
    unsure: one.unsure + other.unsure,
    upTo: Math.max(one.upTo, other.upTo),
    ageMs: Math.min(one.ageMs, other.ageMs),
  }
}
