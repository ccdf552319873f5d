import type { MaybePromise } from './contracts.ts'

/** How the guarded work ended. Only `success` and `dropped` may teach an adaptive limit. */
export type PermitOutcome = 'success' | 'dropped' | 'ignored'

/** One held in-flight place. The first release counts, later ones do nothing; `using` releases it as `success`. */
export interface Permit extends Disposable {
  /** Aborts when the place was taken away before its release: held longer than `maxHoldMs`, or a lease ran out. */
  readonly lost: AbortSignal
  release(outcome?: PermitOutcome): void
}

/** No place was free. */
export interface Denial {
  readonly allowed: false
  /** Whole ms after which to ask again. A guess: nobody knows when a place comes back. */
  readonly retryAfterMs: number
}

export interface AcquireOptions {
  /** Places that this work takes; 1 unless said. */
  readonly weight?: number
  readonly priority?: string
  /** Aborted while an acquire is under way: the place goes straight back. */
  readonly signal?: AbortSignal
}

/** Where permits live. */
export interface InflightBackend {
  acquire(key: string, options?: AcquireOptions): MaybePromise<Permit | Denial>
  /** Places held for `key` as far as this backend knows. */
  count?(key: string): MaybePromise<number>
  close?(): MaybePromise<void>
}
