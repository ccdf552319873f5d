import type { DenialReason, Priority } from '@sluice/limiter-core'

/** Priorities of requests, most important first. Arrays of counts by priority have this order. */
export const PRIORITIES: readonly Priority[] = ['critical', 'high', 'normal', 'low', 'sheddable']

/** Reasons of denied permits. Arrays of counts by reason have this order. */
export const DENIAL_REASONS: readonly DenialReason[] = [
  'full',
  'priority',
  'queue-full',
  'timeout',
  'left',
  'blocked',
  'weight',
]

/** Returns the priority of a request. It is `normal` if the request has none, or one that does not exist. */
export function priorityOf(priority: unknown): Priority {
  return PRIORITIES.find((known) => known === priority) ?? 'normal'
}

/** Returns the reason of a denial. It is `full` if the backend states none, or one that does not exist. */
export function reasonOf(reason: unknown): DenialReason {
  return DENIAL_REASONS.find((known) => known === reason) ?? 'full'
}
