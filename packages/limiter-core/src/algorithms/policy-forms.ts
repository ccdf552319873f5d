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
 * What decides the meaning of cells: policies of one form read the same cells alike, whatever their limit. Units that
 * end with a window know its length, and how it is cut, or its calendar; units that drain know their rate.
 */
export function formOf(policy: Policy): string {
  const { algorithm, limit, windowMs, slices = 1, calendar } = policy
  if (calendar) return `calendar ${calendar.per} ${calendar.timeZone} ${calendar.anchor ?? 1} ${windowMs}`
  // gcra keeps milliseconds, of which a unit is so many
  if (algorithm === 'gcra') return `gcra ${windowMs / limit}`
  if (algorithm === 'token-bucket') return `token-bucket ${limit / windowMs}`
  // its algorithm refuses slices that are no number, which may have no text either
  return `${algorithm} ${windowMs} ${Number.isInteger(slices) ? slices : ''}`
}

/**
 * Whether whatever `policy` lets pass fits into `larger`, so that who is counted by both and stays on one plan never
 * meets the larger one.
 */
export function alwaysFits(policy: Policy, larger: Policy): boolean {
  // periods are of several lengths, and what is carried over or bought comes on top
  if (policy.calendar || larger.calendar) return false
  const most = mostAtOnce(policy)
  const perMs = policy.limit / policy.windowMs
  if (drainPerMs(larger) > 0) return most <= capacityOf(larger) && perMs <= drainPerMs(larger)
  return most + perMs * reachMs(larger) <= larger.limit
}

/** What passes in a window of any length is at most this, and the rate by the length of the window. */
function mostAtOnce(policy: Policy): number {
  const { algorithm, slices = 1 } = policy
  // a full window just before its end, another one just after
  const twice = algorithm === 'fixed-window' || (algorithm === 'sliding-window' && slices === 1)
  return twice ? 2 * policy.limit : capacityOf(policy)
}

/** For how long what was taken may count. */
function reachMs({ algorithm, windowMs, slices = 1 }: Policy): number {
  return algorithm === 'sliding-window' ? windowMs * (1 + 1 / slices) : windowMs
}
