import type { DenialReason } from '../denial-reason.ts'

/** How the work ended: `dropped` if the client disconnected or the work failed. */
export type PermitOutcome = 'success' | 'dropped'

/** One or more places of a cap, held until they are released. A `using` declaration releases them as `success`. */
export interface Permit extends Disposable {
  /** Aborted if the permit is revoked before its release, because `maxHoldMs` has passed or its lease has expired. */
  readonly lost: AbortSignal
  /** Releases the permit. Only the first call has an effect. Default outcome: `success`. */
  release(outcome?: PermitOutcome): void
}

/** Returned by an in-flight backend instead of a permit. */
export interface Denial {
  readonly allowed: false
  /**
   * Milliseconds, an integer, after which to retry. This is an estimate, because the time of the next release is not
   * known. Infinity if the weight exceeds the limit.
   */
  readonly retryAfterMs: number
  /** Default: `weight` if `retryAfterMs` is Infinity, otherwise `full`. */
  readonly reason?: DenialReason | undefined
}
