import type { BanTerms } from '../contracts.ts'

/** Largest level, reached only with a factor that is almost 1. */
const MOST_LEVELS = 1_000_000
/** Tolerance for rounding errors of logarithms. */
const EPSILON = 1e-9

/** Returns the first level at which bans are as long as they can be; 0 if all bans are equally long. */
export function topLevelOf({ forMs, growth, maxMs }: BanTerms): number {
  if (growth === 1 || forMs === maxMs) return 0
  return Math.min(MOST_LEVELS, Math.max(1, Math.ceil(Math.log(maxMs / forMs) / Math.log(growth) - EPSILON)))
}

/** Returns the duration, an integer of milliseconds, of a ban that `level` bans went before. */
export function banMs(terms: BanTerms, level: number): number {
  const { forMs, growth, maxMs } = terms
  if (growth === 1) return forMs
  return Math.min(maxMs, Math.round(forMs * growth ** Math.min(level, topLevelOf(terms))))
}

/** Returns the first level whose bans last at least `ms`; the top level if there is none. */
export function levelFor(terms: BanTerms, ms: number): number {
  const top = topLevelOf(terms)
  let level = 0
  while (level < top && banMs(terms, level) < ms) level++
  return level
}
