import type { DenialReason, Priority } from '@sluice/limiter-core'

/** Priorities of requests, most important first. Arrays of counts by priority have this order. */
export const PRIORITIES: readonly Priority[] = ['critical', 'high', 'normal', 'low', 'sheddable']

/** Reasons of denied permits. Arrays of counts by reason have this order. */
export const DENIAL_REASONS: readonly DenialReason[] = [
  'full',
  'priority',
  'queue-full',
  'timeout',
  'blocked',
  'weight',
]

const NORMAL = PRIORITIES.indexOf('normal')

/** Returns the index in `PRIORITIES` of a priority: that of `normal` for none, and for one that does not exist. */
export function indexOfPriority(priority: unknown): number {
  const index = PRIORITIES.indexOf(priority as Priority)
  return index < 0 ? NORMAL : index
}

/** Returns the index in `DENIAL_REASONS` of a reason: that of `full` for none, and for one that does not exist. */
export function indexOfReason(reason: unknown): number {
  return Math.max(0, DENIAL_REASONS.indexOf(reason as DenialReason))
}

/** Returns the priority of a request, see `indexOfPriority`. */
export function priorityOf(priority: unknown): Priority {
  return PRIORITIES[indexOfPriority(priority)]
}

/** Returns the reason of a denial, see `indexOfReason`. */
export function reasonOf(reason: unknown): DenialReason {
  return DENIAL_REASONS[indexOfReason(reason)]
}
