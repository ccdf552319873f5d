import type { Clock } from '../clock.ts'
import type { PermitOutcome } from './permit.ts'

/** A limit of a cap that follows the service, created by `adaptive` of `@sluice/overload`. */
export interface AdaptiveLimit {
  /** Smallest limit, an integer of at least 1. */
  readonly min: number
  /** Largest limit, an integer of at least `min`. */
  readonly max: number
  /** Limit of a key before anything has been learned. */
  readonly initial: number
  /** Opens the limits of one cap. */
  open(clock: Clock): LearnedLimits
}

/** The limits of the keys of one cap. */
export interface LearnedLimits {
  /** Returns the limit of a key, an integer from `min` to `max`. */
  limitOf(key: string): number
  /**
   * Reports work that has ended. `inflight` is the number of places that were held when it began, its own included;
   * `heldMs` the time from permit to release.
   */
  sample(key: string, sample: WorkSample): void
}

/** One piece of work that has ended. */
export interface WorkSample {
  readonly heldMs: number
  readonly inflight: number
  readonly outcome: PermitOutcome
}
