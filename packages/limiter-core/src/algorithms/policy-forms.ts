import type { AlgorithmName, CompiledPolicy, Policy } from '../contracts.ts'

/** Algorithms whose units drain at a constant rate, up to a burst. Units of all other algorithms end with a window. */
export const DRAINING: readonly AlgorithmName[] = ['token-bucket', 'gcra']

/** Returns the units that drain per millisecond; 0 for a window, whose units end together. */
export function drainPerMs({ algorithm, limit, windowMs }: Policy): number {
  return DRAINING.includes(algorithm) ? limit / windowMs : 0
}

/** Returns the units that an unused key admits at once. */
export function capacityOf({ limit, burst }: Policy): number {
  return burst ?? limit
}

/** Returns the policies of all variants, or the policy itself if it has no variants. */
export function policiesOf({ policy, variants }: CompiledPolicy): readonly Policy[] {
  return variants?.map(({ compiled }) => compiled.policy) ?? [policy]
}

/**
 * Returns a string that identifies how a policy interprets its cells, independent of its limit: the algorithm and, for
 * windows, the length and the slices or the calendar; for algorithms that drain, the rate. Policies with the same form
 * can share cells.
 */
export function formOf(policy: Policy): string {
  const { algorithm, limit, windowMs, slices = 1, calendar } = policy
  if (calendar) return `calendar ${calendar.per} ${calendar.timeZone} ${calendar.anchor ?? 1} ${windowMs}`
  // gcra stores milliseconds; this is the length of one unit
  if (algorithm === 'gcra') return `gcra ${windowMs / limit}`
  if (drainPerMs(policy) > 0) return `${algorithm} ${limit / windowMs}`
  // `slices` may be an invalid value that cannot be converted to a string; `compile` rejects it later
  return `${algorithm} ${windowMs} ${Number.isInteger(slices) ? slices : ''}`
}

/**
 * Whether all usage that `policy` admits also fits `larger`, so that a client under one plan, counted by both, is never
 * denied by `larger`.
 */
export function alwaysFits(policy: Policy, larger: Policy): boolean {
  // calendar periods vary in length, and carried-over or purchased units are added to them
  if (policy.calendar || larger.calendar) return false
  const most = mostAtOnce(policy)
  const perMs = policy.limit / policy.windowMs
  if (drainPerMs(larger) > 0) return most <= capacityOf(larger) && perMs <= drainPerMs(larger)
  return most + perMs * reachMs(larger) <= larger.limit
}

/** Returns a bound: any interval admits at most this many units plus the rate times the length of the interval. */
function mostAtOnce(policy: Policy): number {
  const { algorithm, slices = 1 } = policy
  // one limit just before the end of a window and one just after
  const twice = algorithm === 'fixed-window' || (algorithm === 'sliding-window' && slices === 1)
  return twice ? 2 * policy.limit : capacityOf(policy)
}

/** Returns the maximum number of milliseconds for which a unit counts after it was taken. */
export function reachMs({ algorithm, windowMs, slices = 1 }: Policy): number {
  return algorithm === 'sliding-window' ? windowMs * (1 + 1 / slices) : windowMs
}
