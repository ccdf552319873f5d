import type {
  Backend,
  Clock,
  Decision,
  FailoverOptions,
  HeaderOptions,
  HttpDenial,
  KeySource,
  Mode,
  Observer,
  PartitionKeyOptions,
  ProxyTrustOption,
  RequestHook,
} from '@sluice/limiter-core/http'
import type { ChangingPolicies } from './changing-policies.ts'
import type { CostSource, CountOnly } from './cost-source.ts'
import type { RequestPolicy } from './request-policy.ts'

/** Third argument of the `denied` hook. */
export interface DeniedContext {
  /** The response that is sent by default. */
  readonly denial: HttpDenial
  /** Undefined for in-flight caps and slow-downs, which deny because too many requests are in progress. */
  readonly decision: Decision | undefined
}

/**
 * Writes the response to a denied request, whose status and headers are already set.
 * If the hook throws or rejects, the default response is sent.
 */
export type DeniedHook<Req, Res> = RequestHook<[req: Req, res: Res, context: DeniedContext], unknown>

/** A text, or an object that is sent as JSON. */
export type DenialBody = string | Readonly<Record<string, unknown>>

/** The body of a denial in place of the problem document, or a function that returns it. */
export type DenialMessage<Req> = DenialBody | RequestHook<[req: Req, context: DeniedContext], DenialBody>

export type SkipHook<Req> = RequestHook<[req: Req], boolean>

/** Options of `rateLimit` that are the same for one policy, several policies and plans. */
export interface SharedRateLimitOptions<Req, Res> extends HeaderOptions, FailoverOptions {
  /** Names the key of a request. Default: the client's address (`byIp()`). */
  readonly key?: KeySource<Req> | undefined
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
  readonly backend?: Backend | undefined
  /**
   * Proxies in front of the application, such as `'cloudflare'` or `['aws-cloudfront', 'aws-alb']`. The client address is
   * then read from their headers, instead of the framework's setting. What cannot be proven counts as the peer. Default:
   * the framework's setting.
   */
  readonly trust?: ProxyTrustOption | undefined
  /** Returns true for requests that this limiter ignores. */
  readonly skip?: SkipHook<Req> | undefined
  readonly mode?: Mode | undefined
  /** Adds an HMAC of the counted key to the headers, so that clients can distinguish their keys. Default: off. */
  readonly partitionKey?: PartitionKeyOptions | undefined
  /** Status of a denial, from 400 to 599. Default: 429. */
  readonly status?: number | undefined
  /**
   * Body of a denial: a text, an object that is sent as JSON, or a function of the request that returns one of them. If
   * the function throws or rejects, the default body is sent. Cannot be combined with `denied`. Default: a problem
   * document (RFC 9457).
   */
  readonly message?: DenialMessage<Req> | undefined
  /** Writes a custom response to a denied request. */
  readonly denied?: DeniedHook<Req, Res> | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}

type Plans<Req, Res, Plan extends string> = Readonly<Record<Plan, readonly RequestPolicy<Req, Res>[]>>

/** `rateLimit` with one policy, whose options are given directly. */
export interface OnePolicyOptions<Req, Res>
  extends SharedRateLimitOptions<Req, Res>,
    Omit<RequestPolicy<Req, Res>, 'key' | 'cost' | 'backend' | 'mode'> {}

/** `rateLimit` with several policies. */
export interface PoliciesOptions<Req, Res> extends SharedRateLimitOptions<Req, Res> {
  /**
   * A request takes units from all policies, or from none if one of them denies it. Policies that change, such as those
   * of a file, keep the counts of their keys.
   */
  readonly policies: readonly RequestPolicy<Req, Res>[] | ChangingPolicies<Req, Res>
}

/** `rateLimit` with policies that depend on the plan of the request. */
export interface PlansOptions<Req, Res, Plan extends string = string> extends SharedRateLimitOptions<Req, Res> {
  /** Policies by plan name. The first plan also applies to requests of unknown plans, so list the strictest first. */
  readonly plans: Plans<Req, Res, Plan>
  /** Returns the name of the request's plan: one of the names in `plans`. */
  readonly plan: RequestHook<[req: Req], NoInfer<Plan> | undefined>
}

/** Options of `rateLimit`. `Plan`: names of the plans, if there are plans. */
export type RateLimitOptions<Req = unknown, Res = unknown, Plan extends string = string> =
  | OnePolicyOptions<Req, Res>
  | PoliciesOptions<Req, Res>
  | PlansOptions<Req, Res, Plan>
