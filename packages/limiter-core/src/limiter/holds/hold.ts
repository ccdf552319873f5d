import type { Decision, MaybePromise } from '../../contracts.ts'
import type { Duration } from '../../time/duration.ts'
import type { Costs } from '../costs/costs.ts'

export interface HoldOptions {
  /** Units to hold: one number for all policies, or one per policy name. Fractions are rounded up. */
  readonly reserve: Costs
  /**
   * Time after which the units return unless the hold is extended or settled: a duration or a number of
   * milliseconds, at most `maxHoldMs` of each policy. They return up to an eighth of `maxHoldMs` later. Default: the
   * smallest `maxHoldMs`.
   */
  readonly maxMs?: Duration | undefined
}

/**
 * Units that are reserved for work whose cost is not known yet. They count as used until the hold is settled or
 * released, or until its time is over.
 */
export interface Hold<D extends MaybePromise<Decision> = MaybePromise<Decision>> {
  /** Whether the units are held. If not, the other methods do nothing. */
  readonly allowed: boolean
  /** Decision of the last call, for the headers of a response. */
  readonly decision: Decision
  /**
   * Holds `units` more, and holds all units for `maxMs` from now. Returns whether they fit; if not, the hold stays as
   * it was. If its time is over, all units are held again. Returns false after a settlement. Throws `SLUICE_BAD_COST`.
   */
  extend(units: Costs): SameTiming<D, boolean>
  /**
   * Spends `actual` units, also beyond the units that were held, and returns the rest. Units that have
   * returned already are spent too. Only the first call of `settle` or `release` has an effect. Throws `SLUICE_BAD_COST`.
   */
  settle(actual: Costs): D
  /** Returns all units. */
  release(): D
}

/** `T` if a limiter answers at once, a promise of it if the limiter answers later, and either if that is not known. */
type SameTiming<D extends MaybePromise<Decision>, T> = [D] extends [Promise<unknown>]
  ? Promise<T>
  : [D] extends [Decision]
    ? T
    : MaybePromise<T>

/** Return type of `Limiter.hold` on a limiter whose takes return `D`. */
export type HoldOf<D extends MaybePromise<Decision>> = SameTiming<D, Hold<D>>
