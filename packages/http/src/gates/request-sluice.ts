import type { Decision, Duration, MaybePromise } from '@sluice/limiter-core/http'

/** The units that are held for one request. Methods never throw and never reject. */
export interface RequestHold {
  /** Like `RequestSluice.extend`. */
  extend(units: number, policy?: string): MaybePromise<boolean>
  /** Spends `actual` units in one policy, or in all that hold the cost of the request, and returns the rest. Works once. */
  settle(actual: number, policy?: string): MaybePromise<void>
  /** Returns the units to one policy, or to all that hold the cost of the request. */
  release(policy?: string): MaybePromise<void>
}

/**
 * The limits of one request, for its handlers: `req.sluice`, `ctx.state.sluice`, `request.sluice`.
 * Methods never throw and never reject. Failures are reported to observers and warned about once.
 */
export interface RequestSluice {
  /** Decisions of the limiters that counted this request, in the order in which they ran. */
  readonly decisions: readonly Decision[]
  /**
   * The most restrictive decision: a denied one, otherwise the one with the smallest fraction of its limit left.
   * A decision whose policies are all in shadow mode counts only if every decision is of this kind. Undefined if no
   * limiter counted the request.
   */
  readonly decision: Decision | undefined
  /** Charges units to one policy, or to all. Units beyond the limit become debt; a negative number is a refund. */
  charge(units: number, policy?: string): MaybePromise<void>
  /** Refunds the units that this request took from one policy, or from all. */
  refund(policy?: string): MaybePromise<void>
  /** Resets the count of the request's key in one policy, or in all. */
  reset(policy?: string): MaybePromise<void>
  /**
   * Bans the request's key for a time in one policy, or in all that have a `ban` and counted the request, for example after
   * a sign of fraud. `duration` is at most the `max` of the ban. The current request continues.
   */
  ban(duration: Duration, policy?: string): MaybePromise<void>
  /** Sets the final cost of the request in one policy, or in all. Only the first call for each policy has an effect. */
  settle(actual: number, policy?: string): MaybePromise<void>
  /** The units that are held for this request (`maxHoldMs`). Undefined if no policy holds its cost. */
  readonly hold: RequestHold | undefined
  /**
   * Reserves `units` more in one policy, or in all that hold the cost of the request (`maxHoldMs`), and holds the
   * reservation for `maxHoldMs` from now. Returns whether the units fit; if not, end the response, and its cost is
   * settled. Returns true if no policy holds the cost.
   */
  extend(units: number, policy?: string): MaybePromise<boolean>
  /**
   * Reports that the response has used `units` more of one policy, or of all whose cost has `extend: 'stream'`. When the
   * units that are held have been used, the next ones are held. Returns whether the response may continue: false if they
   * do not fit and the response ends (`onExhausted: 'abort'`), and after the request has ended. A handler that awaits the
   * result sends no more than one report beyond the limit; a handler that does not await it sends what it has used until
   * the backend answers.
   */
  used(units: number, policy?: string): MaybePromise<boolean>
  /** Aborted when the response ends because its units are used up (`extend: 'stream'`): cancel the work behind it. */
  readonly exhausted: AbortSignal
  /** Holds the request's permits until `work` has settled, even if the response completes earlier. */
  holdUntil(work: PromiseLike<unknown>): void
}
