import { RANK_COUNT } from '../priority/levels.ts'
import { positionIn, type SignalRange } from './signal-range.ts'

/**
 * Pressure from which requests of a priority are refused, and from which all of them are, least important first.
 * Between `high` and `critical` is a gap, in which critical requests pass alone, so that no fluctuation refuses them.
 */
const RAMPS: readonly SignalRange[] = [
  { from: 0, to: 0.1 },
  { from: 0.1, to: 0.2 },
  { from: 0.2, to: 0.3 },
  { from: 0.3, to: 0.5 },
  { from: 0.8, to: 1 },
]

/** Pressure at which all requests except critical ones are refused. */
export const ALL_BUT_CRITICAL = 0.75

/** Returns the probability, from 0 to 1, with which requests of a rank are refused. `pressure` is from 0 to 1. */
export function probabilityOf(pressure: number, rank: number): number {
  return positionIn(RAMPS[rank] as SignalRange, pressure)
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
    const { from, to } = RAMPS[rank] as SignalRange
    if (left < count) return from + (to - from) * (left / count)
    left -= count
    if (left <= 0) return to
  }
  return 1
}
