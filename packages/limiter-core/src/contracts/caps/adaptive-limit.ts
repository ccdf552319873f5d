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
  /** Opens the limits of one cap. Work ends `maxHoldMs` after it began, if it is set. */
  open(clock: Clock, maxHoldMs?: number): LearnedLimits
}

/** The limits of the keys of one cap. */
export interface LearnedLimits {
  /** Returns the limit of a key, an integer from `min` to `max`. It may grow while work lasts. */
  limitOf(key: string): number
  /** Reports that work of a `kind`, its client or priority, holds `places`. Returns a function that reports its end. */
  begin(key: string, places: number, kind?: string): (outcome: PermitOutcome) => void
}
