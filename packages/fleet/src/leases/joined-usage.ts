import type { AdmittedUnits, PriorUsage } from '@sluice/limiter-core/backend'

/** Merges the usage of one key known to several callers: the largest `used`, and the sum of admitted units. */
export function joinedUsage(all: readonly PriorUsage[]): PriorUsage | undefined {
  const relevant = all.filter(({ used, admitted }) => used > 0 || admitted)
  return relevant.length > 1 ? relevant.reduce(joined) : relevant[0]
}

function joined(one: PriorUsage, other: PriorUsage): PriorUsage {
  const more = other.used > one.used ? other : one
  return {
    used: more.used,
    resetAfterMs: Math.max(one.resetAfterMs, other.resetAfterMs),
    ageMs: more.ageMs,
    replyAgeMs: more.replyAgeMs,
    admitted: one.admitted && other.admitted ? sum(one.admitted, other.admitted) : (one.admitted ?? other.admitted),
  }
}

function sum(one: AdmittedUnits, other: AdmittedUnits): AdmittedUnits {
  return {
    uncounted: one.uncounted + other.uncounted,
    unsure: one.unsure + other.unsure,
    upTo: Math.max(one.upTo, other.upTo),
    ageMs: Math.min(one.ageMs, other.ageMs),
  }
}
