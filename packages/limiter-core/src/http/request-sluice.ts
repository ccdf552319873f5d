import type { Decision, MaybePromise } from '../contracts.ts'

/**
 * What the suite knows of one request, for its handlers: `req.sluice`, `ctx.state.sluice`, `request.sluice`.
 * Its methods never throw and never reject: what goes wrong is warned about once.
 */
export interface RequestSluice {
  /** One for each limiter that counted this request, in their order. */
  readonly decisions: readonly Decision[]
  /** The one that binds: a denied one, else the one nearest its end; one whose policies are all in shadow only among its like. Undefined where no limiter counted. */
  readonly decision: Decision | undefined
  /** Adds units to a policy, or to all: more than fits becomes debt, a negative number is a refund. */
  charge(units: number, policy?: string): MaybePromise<void>
  /** Gives back what a policy, or each, took of this request. */
  refund(policy?: string): MaybePromise<void>
  /** Makes the request's key as good as new, in a policy or in all. */
  reset(policy?: string): MaybePromise<void>
  /** Says what the request cost in the end. The first one counts, for each policy. */
  settle(actual: number, policy?: string): MaybePromise<void>
  /** Keeps the request's permits until `work` is done, though the response may be complete before. */
  holdUntil(work: PromiseLike<unknown>): void
}
