import type { Priority } from '@sluice/limiter-core'
import { PRIORITIES } from '../priority/levels.ts'

/**
 * Pressure from which requests of a priority are refused, and from which all of them are, least important first.
 * Between `high` and `critical` is a gap, in which critical requests pass alone, so that no fluctuation refuses them.
 */
const RAMPS: readonly (readonly [from: number, to: number])[] = [
  [0, 0.1],
  [0.1, 0.2],
  [0.2, 0.3],
  [0.3, 0.5],
  [0.8, 1],
]
const RANKS: ReadonlyMap<Priority | undefined, number> = new Map(PRIORITIES.map((name, rank) => [name, rank]))
const NORMAL = PRIORITIES.indexOf('normal')

/** Number of priorities. A rank is an integer from 0, for the least important one. */
export const RANK_COUNT: number = PRIORITIES.length

/** Pressure at which all requests except critical ones are refused. */
export const ALL_BUT_CRITICAL = 0.75

/** Returns the rank of a priority. An unknown priority is `normal`. */
export function rankOf(priority: Priority | undefined): number {
  return RANKS.get(priority) ?? NORMAL
}

/** Returns the probability, from 0 to 1, with which requests of a rank are refused. `pressure` is from 0 to 1. */
export function probabilityOf(pressure: number, rank: number): number {
  const [from, to] = RAMPS[rank] as readonly [number, number]
  return Math.max(0, Math.min(1, (pressure - from) / (to - from)))
}

/**
 * Returns the pressure that refuses the least important `refused` of the requests. `counts` are the numbers of requests
 * by rank.
 */
export function pressureThatRefuses(refused: number, counts: Float64Array): number {
  if (refused <= 0) return 0
  let left = refused
  for (let rank = 0; rank < RANK_COUNT; rank++) {
    const count = counts[rank] as number
    const [from, to] = RAMPS[rank] as readonly [number, number]
    if (left < count) return from + (to - from) * (left / count)
    left -= count
    if (left <= 0) return to
  }
  return 1
}
