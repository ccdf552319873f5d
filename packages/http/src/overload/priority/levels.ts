import type { Priority } from '@sluice/limiter-core'

/** Priorities, least important first. */
export const PRIORITIES: readonly Priority[] = ['sheddable', 'low', 'normal', 'high', 'critical']

/** Number of priorities. A rank is an integer from 0, for the least important one. */
export const RANK_COUNT = 5

/** Levels of a priority, which order the clients in it. */
export const COHORTS = 128

/** A level is an integer from 0 to `LEVELS` - 1. Lower levels are refused first. */
export const LEVELS: number = RANK_COUNT * COHORTS

const NORMAL = 2

/** Returns the rank of a priority. An unknown priority is `normal`. */
export function rankOf(priority: Priority | undefined): number {
  const rank = priority === undefined ? NORMAL : PRIORITIES.indexOf(priority)
  return rank < 0 ? NORMAL : rank
}

/** Returns the level of a priority. `cohort` is an integer from 0 to `COHORTS` - 1. */
export function levelOf(priority: Priority | undefined, cohort: number): number {
  return rankOf(priority) * COHORTS + cohort
}

/** Returns the rank of the priority that a level belongs to. */
export function classOf(level: number): number {
  return Math.floor(level / COHORTS)
}
