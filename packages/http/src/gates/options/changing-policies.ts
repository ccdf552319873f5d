import type { RequestPolicy } from './request-policy.ts'

/** Policies that can change while their limiters run, such as those of a file. Created by `policies` of a package. */
export interface ChangingPolicies<Req, Res> {
  /** The current policies, or the next ones while limiters prepare for them; at least one. */
  readonly current: readonly RequestPolicy<Req, Res>[]
  /** Calls a limiter before and after each change. Returns a function that ends the calls. */
  follow(follower: PolicyFollower): () => void
}

/** A limiter whose policies change. */
export interface PolicyFollower {
  /**
   * Prepares the limiter for the next policies, which do not apply yet. Throws a `SluiceError` if it cannot have them;
   * then no limiter gets them.
   */
  prepare(): PreparedPolicies
  /** Reports a change, or a change that was refused because of `error`. Never throws. */
  report(source: string, error?: unknown): void
}

/** Policies that a limiter is prepared for. One of the functions is called, once, in the same turn of the event loop. */
export interface PreparedPolicies {
  /** Applies the policies to all further requests. */
  readonly commit: () => void
  readonly discard: () => void
}

/**
 * Prepares several limiters: all of them, or none if one throws. Returns one object that commits or discards them all.
 */
export function prepareAll(prepares: Iterable<() => PreparedPolicies>): PreparedPolicies {
  const prepared: PreparedPolicies[] = []
  const discard = (): void => {
    for (const one of prepared) one.discard()
  }
  const commit = (): void => {
    for (const one of prepared) one.commit()
  }
  try {
    for (const prepare of prepares) prepared.push(prepare())
  } catch (error) {
    discard()
    throw error
  }
  return { commit, discard }
}

export function isChanging<Req, Res>(
  policies: readonly RequestPolicy<Req, Res>[] | ChangingPolicies<Req, Res>,
): policies is ChangingPolicies<Req, Res> {
  return typeof (policies as Partial<ChangingPolicies<Req, Res>> | null)?.follow === 'function'
}
