import type { Answer, BackendVerdict, Charge, Counter } from '../contracts.ts'

/** What a call returned about the ban of a key. */
export type ReadBan = Pick<Answer, 'verdicts' | 'takenAt' | 'counted'>

/** Tolerance for the rounding of large times. */
const ROUNDING_MS = 0.01

/** Returns a charge that reads a counter. It is advisory, so that it can never deny a request. */
export function readOf(key: string, counter: Counter): Charge {
  return { key, counter, cost: 0, advisory: true }
}

/** Returns the rest of a ban from the verdicts of its counters, in whole milliseconds; 0 if the key is not banned. */
export function restOf(verdicts: readonly BackendVerdict[]): number {
  let restMs = 0
  // the last time slot of a ban ends after the ban
  for (const { resetAfterMs, policy } of verdicts) restMs = Math.max(restMs, Math.min(policy.windowMs, resetAfterMs))
  return restMs > ROUNDING_MS ? Math.ceil(restMs - ROUNDING_MS) : 0
}

/** Returns the milliseconds until all enforced policies admit a request; 0 if they do. */
export function longestWait(verdicts: readonly BackendVerdict[]): number {
  return Math.max(0, ...verdicts.map(({ shadow, retryAfterMs }) => (shadow ? 0 : retryAfterMs)))
}

/** Returns the strikes or bans that a counter has counted. */
export function usedOf({ compiled }: Counter, verdict: BackendVerdict | undefined): number {
  return verdict ? Math.max(0, compiled.policy.limit - Math.max(0, verdict.remaining)) : 0
}
