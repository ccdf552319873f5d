import type { AlgorithmName, Policy } from '../contracts.ts'

const DRAINING: readonly AlgorithmName[] = ['token-bucket', 'gcra']

/** Units that drain in a millisecond; 0 where they end with a window. */
export function drainPerMs({ algorithm, limit, windowMs }: Policy): number {
  return DRAINING.includes(algorithm) ? limit / windowMs : 0
}

/** The most units that a fresh key can give at once. */
export function capacityOf({ limit, burst }: Policy): number {
  return burst ?? limit
}

/**
 * Returns what determines the meaning of cells. Policies with the same form interpret the same cells alike, whatever
 * their limits. For windows it contains the length, the slices or the calendar; for algorithms that drain, the rate.
 */
export function formOf(policy: Policy): string {
  const { algorithm, limit, windowMs, slices = 1, calendar } = policy
  if (calendar) return `calendar ${calendar.per} ${calendar.timeZone} ${calendar.anchor ?? 1} ${windowMs}`
  // gcra stores milliseconds; this is the length of one unit
  if (algorithm === 'gcra') return `gcra ${windowMs / limit}`
  if (algorithm === 'token-bucket') return `token-bucket ${limit / windowMs}`
  // `slices` may be an invalid value that cannot be converted to a string; the algorithm refuses it later
  return `${algorithm} ${windowMs} ${Number.isInteger(slices) ? slices : ''}`
}

/**
 * Whether everything that `policy` admits also fits `larger`, so that a client counted by both, on one plan, is never
 * denied by the larger one.
 */
export function alwaysFits(policy: Policy, larger: Policy): boolean {
  // calendar periods vary in length, and carried-over or purchased units are added to them
  if (policy.calendar || larger.calendar) return false
  const most = mostAtOnce(policy)
  const perMs = policy.limit / policy.windowMs
  if (drainPerMs(larger) > 0) return most <= capacityOf(larger) && perMs <= drainPerMs(larger)
  return most + perMs * reachMs(larger) <= larger.limit
}

/** An interval of any length admits at most this many units plus the rate times the length. */
function mostAtOnce(policy: Policy): number {
  const { algorithm, slices = 1 } = policy
  // a full window just before its end, another one just after
  const twice = algorithm === 'fixed-window' || (algorithm === 'sliding-window' && slices === 1)
  return twice ? 2 * policy.limit : capacityOf(policy)
}

/** Returns for how many milliseconds a taken unit may count. */
function reachMs({ algorithm, windowMs, slices = 1 }: Policy): number {
  return algorithm === 'sliding-window' ? windowMs * (1 + 1 / slices) : windowMs
}
