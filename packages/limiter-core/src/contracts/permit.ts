/** How the guarded work ended: `dropped` where its client left or it failed. */
export type PermitOutcome = 'success' | 'dropped'

/** One held in-flight place. The first release counts, later ones do nothing; `using` releases it as `success`. */
export interface Permit extends Disposable {
  /** Aborts when the place was taken away before its release: held longer than `maxHoldMs`, or a lease ran out. */
  readonly lost: AbortSignal
  release(outcome?: PermitOutcome): void
}

/** No place was free. */
export interface Denial {
  readonly allowed: false
  /** Whole ms after which to ask again. A guess: nobody knows when a place comes back. Infinity: the work weighs more than the limit. */
  readonly retryAfterMs: number
}
