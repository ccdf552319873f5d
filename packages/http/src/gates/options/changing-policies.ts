import type { RequestPolicy } from './request-policy.ts'

/** Policies that can change while their limiters run, such as those of a file. Created by `policies` of a package. */
export interface ChangingPolicies<Req, Res> {
  /** The current policies; at least one. */
  readonly current: readonly RequestPolicy<Req, Res>[]
  /** Calls a limiter before and after each change. Returns a function that ends the calls. */
  follow(follower: PolicyFollower<Req, Res>): () => void
}

/** A limiter whose policies change. */
export interface PolicyFollower<Req, Res> {
  /**
   * Prepares the limiter for other policies, which do not apply yet. Throws a `SluiceError` if it cannot have them; then
   * no limiter gets them.
   */
  prepare(policies: readonly RequestPolicy<Req, Res>[]): PreparedPolicies
  /** Reports a change, or a change that was refused because of `error`. Never throws. */
  report(source: string, error?: unknown): void
}

/** Policies that a limiter is prepared for. One of the functions is called, once, in the same turn of the event loop. */
export interface PreparedPolicies {
  /** Applies the policies to all further requests. */
  readonly commit: () => void
  readonly discard: () => void
}

export function isChanging<Req, Res>(
  policies: readonly RequestPolicy<Req, Res>[] | ChangingPolicies<Req, Res>,
): policies is ChangingPolicies<Req, Res> {
  return typeof (policies as Partial<ChangingPolicies<Req, Res>> | null)?.follow === 'function'
}
