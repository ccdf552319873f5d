import type { Backend, FailoverOptions, KeySource, RequestHook } from '@sluice/limiter-core/http'
import type { HeaderOptions } from '../../headers/compile-headers.ts'
import type { ChangingPolicies } from './changing-policies.ts'
import type { CostSource, CountOnly } from './cost-source.ts'
import type { GateOptions } from './gate-options.ts'
import type { PartitionKeyOptions } from './partition-key.ts'
import type { RequestPolicy } from './request-policy.ts'

/** Options of `rateLimit` that are the same for one policy, several policies and plans. */
export interface SharedRateLimitOptions<Req, Res> extends GateOptions<Req, Res>, HeaderOptions, FailoverOptions {
  /** Names the key of a request. Default: the client's address (`byIp()`). */
  readonly key?: KeySource<Req> | undefined
  /** Units that a request takes. Default: 1. */
  readonly cost?: CostSource<Req, Res> | undefined
  /**
   * Counts only failed requests (status 400 or higher), such as wrong passwords, or only successful ones. A request takes
   * its cost when it arrives, and gets it back when a response that does not count has been sent completely. Applies to
   * all policies. Default: every request counts.
   */
  readonly countOnly?: CountOnly | undefined
  /** Namespace of the counts. Limiters on the same backend with equal scopes and policies share their counts. */
  readonly scope?: string | undefined
  /** Whether sharing counts with another limiter of the same scope and names is intended. Turns off the warning. */
  readonly shared?: boolean | undefined
  /** Stores the counts. Default: memory, separate for each limiter. */
  readonly backend?: Backend | undefined
  /** Adds an HMAC of the counted key to the headers, so that clients can distinguish their keys. Default: off. */
  readonly partitionKey?: PartitionKeyOptions | undefined
  /** Status of a denial, from 400 to 599. Default: 429. */
  readonly status?: number | undefined
}

type Plans<Req, Res, Plan extends string> = Readonly<Record<Plan, readonly RequestPolicy<Req, Res>[]>>

/** `rateLimit` with one policy, whose options are given directly. */
export interface OnePolicyOptions<Req, Res>
  extends SharedRateLimitOptions<Req, Res>,
    Omit<RequestPolicy<Req, Res>, 'key' | 'cost' | 'backend' | 'mode'> {
  // distinguishes the three forms, so that the compiler rejects options of another form
  readonly policies?: undefined
  readonly plans?: undefined
}

/** `rateLimit` with several policies. */
export interface PoliciesOptions<Req, Res> extends SharedRateLimitOptions<Req, Res> {
  /**
   * A request takes units from all policies, or from none if one of them denies it. Policies that change, such as those
   * of a file, keep the counts of their keys.
   */
  readonly policies: readonly RequestPolicy<Req, Res>[] | ChangingPolicies<Req, Res>
  readonly plans?: undefined
}

/** `rateLimit` with policies that depend on the plan of the request. */
export interface PlansOptions<Req, Res, Plan extends string = string> extends SharedRateLimitOptions<Req, Res> {
  /** Policies by plan name. The first plan also applies to requests of unknown plans, so list the strictest first. */
  readonly plans: Plans<Req, Res, Plan>
  /** Returns the name of the request's plan: one of the names in `plans`. */
  readonly plan: RequestHook<[req: Req], NoInfer<Plan> | undefined>
  readonly policies?: undefined
}

/** Options of `rateLimit`. `Plan`: names of the plans, if there are plans. */
export type RateLimitOptions<Req = unknown, Res = unknown, Plan extends string = string> =
  | OnePolicyOptions<Req, Res>
  | PoliciesOptions<Req, Res>
  | PlansOptions<Req, Res, Plan>

/**
 * Options of `rateLimit` for a part of an application, such as a route. A policy that omits `limit` or `window` changes
 * the inherited policy of the same name: it has all other options of that policy that it omits, except `burst` and
 * `overrides` if it has another limit.
 */
export type PartRateLimitOptions<Req = unknown, Res = unknown> =
  | RateLimitOptions<Req, Res>
  | (Omit<OnePolicyOptions<Req, Res>, 'limit' | 'window'> &
      Partial<Pick<OnePolicyOptions<Req, Res>, 'limit' | 'window'>>)
