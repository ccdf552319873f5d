import type { Decision, MaybePromise, Moment, Policy } from '../contracts.ts'
import type { Duration } from '../time/duration.ts'
import type { Keys } from './charges.ts'
import type { Costs } from './costs/costs.ts'
import type { HoldOf, HoldOptions } from './holds/hold.ts'

/** How the work of an allowed take ended. */
export type Outcome = 'success' | 'failure'

/** Limits without a framework: for messages, queues, jobs and anything that is not an HTTP request. */
export interface Limiter<D extends MaybePromise<Decision> = MaybePromise<Decision>> {
  readonly policies: readonly Policy[]
  /**
   * Takes `cost` units from all policies, or from none of them. Default cost: 1; 0 reads without taking. Fractions are
   * rounded up. Throws `SLUICE_BAD_KEY` and `SLUICE_BAD_COST`.
   */
  take(key: Keys, cost?: Costs, moment?: Moment): D
  /** Returns what `take` would return, and changes nothing. */
  peek(key: Keys, cost?: Costs, moment?: Moment): D
  /**
   * Adds `units` unconditionally: units beyond the limit become debt, negative units are a refund. `taken` is the
   * decision that the units belong to, or its `takenAt`: with a decision, no unit returns to a policy that took none.
   * Default: now.
   */
  charge(key: Keys, units: Costs, taken?: Decision | number): D
  /**
   * Holds units of all policies, or of none of them, for work whose cost is not known yet. Policies with `maxHoldMs`
   * count the units as used until the hold is settled, released or over; on backends with holds, such as memory, Redis
   * and PostgreSQL, also if this process ends. Other policies are charged at once, and corrected when it is settled.
   * Throws `SLUICE_BAD_KEY`, `SLUICE_BAD_COST`, `SLUICE_BAD_DURATION`, and `SLUICE_BAD_OPTION` if no policy has
   * `maxHoldMs`.
   */
  hold(key: Keys, options: HoldOptions): HoldOf<D>
  /** Resets the key in every policy, and lifts its bans. */
  reset(key: Keys): MaybePromise<void>
  /**
   * Bans the key for a time in every policy with a `ban`: at most its `max`. Synced and gossip backends choose the next
   * longer duration that its bans reach by growth. A ban that lasts longer stays. Counts as a ban that makes the next one longer. Throws
   * `SLUICE_BAD_KEY`, `SLUICE_BAD_DURATION`, and `SLUICE_BAD_OPTION` if no policy bans keys, or none for so long.
   */
  ban(key: Keys, duration: Duration): MaybePromise<void>
  /**
   * Reports how the work of an allowed take ended, for policies with a `ban`: a failure is a strike if its `strikes` are
   * `failures`, and a success clears the strikes if it has `forgiveOn`. Other policies ignore the report. Throws
   * `SLUICE_BAD_KEY`, and `SLUICE_BAD_OPTION` for another outcome.
   */
  report(key: Keys, outcome: Outcome): MaybePromise<void>
  /** Closes the counters of this limiter and releases its names. Backends passed as options stay open. */
  close(): MaybePromise<void>
}
