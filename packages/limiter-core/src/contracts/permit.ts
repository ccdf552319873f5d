/** How the work ended: `dropped` if the client disconnected or the work failed. */
export type PermitOutcome = 'success' | 'dropped'

/** A held in-flight place. Only the first release has an effect; `using` releases it as `success`. */
export interface Permit extends Disposable {
  /** Aborts when the place was taken away before its release: held longer than `maxHoldMs`, or a lease ran out. */
  readonly lost: AbortSignal
  release(outcome?: PermitOutcome): void
}

/** Returned if no place was free. */
export interface Denial {
  readonly allowed: false
  /**
   * Milliseconds, an integer, after which to retry: an estimate, because the next release is not known. Infinity if
   * the weight exceeds the limit.
   */
  readonly retryAfterMs: number
}
