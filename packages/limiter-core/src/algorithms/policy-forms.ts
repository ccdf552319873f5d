import type { AlgorithmName, Backend, CompiledPolicy, Policy } from '../contracts.ts'

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
  if (calendar) {
    const { per, timeZone, zoneOf, resetAt = '', anchor = 1 } = calendar
    return `calendar ${per} ${zoneOf ? 'of each key' : timeZone} ${anchor} ${windowMs} ${resetAt}`
  }
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

/** Returns the milliseconds after which a take no longer influences its key, in any variant of the policy. */
export function retentionMs(compiled: CompiledPolicy): number {
  const { policy, holds, bookings } = compiled
  const policies = policiesOf(compiled)
  const most = Math.max(...policies.map(capacityOf))
  // a take counts for up to two epochs of a sliding window, or until the largest debt of a bucket has drained
  const usedMs = policies.map(({ windowMs, limit }) => 2 * windowMs * Math.max(1, most / limit))
  const heldMs = holds ? holds.endsAt(0, policy.maxHoldMs ?? 0) : 0
  return Math.max(...usedMs, heldMs) + (bookings ? bookings.most * bookings.paceMs : 0)
}

/** Largest limit for which the exact `sliding-log` is the default: one timestamp per unit still needs little memory. */
const LARGEST_DEFAULT_LOG = 32

/**
 * Returns the default algorithm: `sliding-log` for limits up to 32 if the backend supports it, otherwise
 * `sliding-window`. If plans share a count, `largestLimit` is the largest of their limits.
 */
export function defaultAlgorithm(largestLimit: number, { algorithms }: Pick<Backend, 'algorithms'>): AlgorithmName {
  const supportsLog = algorithms?.includes('sliding-log') ?? true
  return largestLimit <= LARGEST_DEFAULT_LOG && supportsLog ? 'sliding-log' : 'sliding-window'
}
