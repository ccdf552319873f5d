import type { Priority } from '@sluice/limiter-core'

/** Priorities, least important first. */
export const PRIORITIES: readonly Priority[] = ['sheddable', 'low', 'normal', 'high', 'critical']

/** Number of priorities. A rank is an integer from 0, for the least important one. */
export const RANK_COUNT: number = PRIORITIES.length

/** Levels of a priority, which order the clients in it. */
export const COHORTS = 128

/** A level is an integer from 0 to `LEVELS` - 1. Lower levels are refused first. */
export const LEVELS: number = RANK_COUNT * COHORTS

const RANKS: ReadonlyMap<Priority, number> = new Map(PRIORITIES.map((name, rank) => [name, rank]))
const NORMAL = PRIORITIES.indexOf('normal')

/** Returns the rank of a priority. An unknown priority is `normal`. */
export function rankOf(priority: Priority | undefined): number {
  return priority === undefined ? NORMAL : (RANKS.get(priority) ?? NORMAL)
}

/** Returns the level of a priority. `cohort` is an integer from 0 to `COHORTS` - 1. */
export function levelOf(priority: Priority | undefined, cohort: number): number {
  return rankOf(priority) * COHORTS + cohort
}
