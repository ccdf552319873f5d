import type { CompiledPolicy } from '@sluice/limiter-core'
import { lacksUsage, type PriorUsage, restoreUsage } from '@sluice/limiter-core/backend'
import type { WorkingKey } from './working-key.ts'

/** The times that decide whether known usage is still valid. */
export interface KnownTimes {
  /** Time of the decisions. */
  readonly now: number
  /** Time of the server before which counts may have been lost; undefined if it is unknown. */
  readonly lostBefore: number | undefined
  /** Milliseconds between the request and the decision. */
  readonly waitedMs: number
}

/**
 * Restores usage that the caller knows and that the server may have lost. Usage that was reported before the key was
 * reset or refunded, or after the last loss, is ignored.
 */
export function restoreKnown(
  key: WorkingKey,
  compiled: CompiledPolicy,
  known: PriorUsage,
  { now, lostBefore = Number.POSITIVE_INFINITY, waitedMs }: KnownTimes,
): void {
  const { used, resetAfterMs, ageMs, admitted } = known
  // NaN and Infinity would never expire
  if (!(resetAfterMs > 0 && resetAfterMs <= Number.MAX_SAFE_INTEGER)) return
  const reportedAt = now - waitedMs - (ageMs ?? 0)
  const isLost = ageMs === undefined || (reportedAt <= lostBefore && reportedAt > Math.max(key.resetAt, key.refundedAt))
  const isAdmitted = admitted !== undefined && now - waitedMs - admitted.ageMs > key.resetAt
  const valid: PriorUsage = {
    used: isLost ? used : 0,
    resetAfterMs,
    admitted: isAdmitted ? admitted : undefined,
  }
  if (!lacksUsage(compiled, key.cells, 0, now, valid)) return
  restoreUsage(compiled, key.cells, 0, now, valid)
  key.isChanged = true
}
