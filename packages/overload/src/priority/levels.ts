import type { Priority } from '@sluice/limiter-core'

/** Priorities, least important first. */
export const PRIORITIES: readonly Priority[] = ['sheddable', 'low', 'normal', 'high', 'critical']

/** Levels of a priority, which order the clients in it. */
export const COHORTS = 128

/** A level is an integer from 0 to `LEVELS` - 1. Lower levels are refused first. */
export const LEVELS: number = PRIORITIES.length * COHORTS

const FIRST_LEVEL: ReadonlyMap<Priority, number> = new Map(PRIORITIES.map((name, index) => [name, index * COHORTS]))
const NORMAL = PRIORITIES.indexOf('normal') * COHORTS

/** Returns the level of a priority. `cohort` is an integer from 0 to `COHORTS` - 1. An unknown priority is `normal`. */
export function levelOf(priority: Priority | undefined, cohort: number): number {
  return (priority === undefined ? NORMAL : (FIRST_LEVEL.get(priority) ?? NORMAL)) + cohort
}
