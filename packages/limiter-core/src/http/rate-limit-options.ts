import type { RequestHook } from '../contracts/request-hook.ts'
import type { Backend, Clock, Decision, Observer } from '../contracts.ts'
import type { FailoverOptions } from '../failover/failover-options.ts'
import type { KeySource } from '../keys/key-source.ts'
import type { Mode } from '../policy/mode.ts'
import type { PolicyInput } from '../policy/policy.ts'
import type { CostSource } from './cost-source.ts'
import type { HttpDenial } from './gate.ts'
import type { HeaderOptions } from './header-dialect.ts'
import type { PartitionKeyOptions } from './partition-key.ts'

/** A policy on requests: whom it counts and what a request costs. */
export interface RequestPolicy<Req, Res> extends PolicyInput {
  /** Whom to count; default: the limiter's key. */
  readonly key?: KeySource<Req>
  /** Units of one request; default: the limiter's cost. */
  readonly cost?: CostSource<Req, Res>
}

/** What a user's own answer to a denied request is told. */
export interface DeniedContext {
  readonly denial: HttpDenial
  /** Absent for a cap and for a slow-down, which deny for want of a place. */
  readonly decision: Decision | undefined
}

/** Writes the answer to a denied request; status and headers stand already. Where it throws, the usual answer is sent. */
export type DeniedAnswer<Req, Res> = RequestHook<[req: Req, res: Res, context: DeniedContext], unknown>

export type SkipHook<Req> = RequestHook<[req: Req], boolean>

/** Options that every limiter on requests has, whatever its policies. */
export interface SharedRateLimitOptions<Req, Res> extends HeaderOptions, FailoverOptions {
  /** Whom to count; default: the client's address (`byIp()`). */
  readonly key?: KeySource<Req> | undefined
  readonly cost?: CostSource<Req, Res> | undefined
  /** Names the counts on a backend: limiters with equal scopes and policies share them. */
  readonly scope?: string | undefined
  /** True where the limiter is to share its counts: another one of equal scope and names is no mistake then. */
  readonly shared?: boolean | undefined
  readonly backend?: Backend | undefined
  /** True for requests that none of these policies counts. */
  readonly skip?: SkipHook<Req> | undefined
  readonly mode?: Mode | undefined
  /** Shows clients which of their keys was counted, as an HMAC. Default: off. */
  readonly partitionKey?: PartitionKeyOptions | undefined
  /** Status of a denial, from 400 to 599; default: 429. */
  readonly status?: number | undefined
  /** Your own answer to a denied request. */
  readonly denied?: DeniedAnswer<Req, Res> | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}

type Plans<Req, Res> = Readonly<Record<string, readonly RequestPolicy<Req, Res>[]>>

/** One policy, written in short. */
export interface OnePolicyOptions<Req, Res>
  extends SharedRateLimitOptions<Req, Res>,
    Omit<RequestPolicy<Req, Res>, 'key' | 'cost' | 'backend' | 'mode'> {}

export interface PoliciesOptions<Req, Res> extends SharedRateLimitOptions<Req, Res> {
  /** All are taken or none. */
  readonly policies: readonly RequestPolicy<Req, Res>[]
}

export interface PlansOptions<Req, Res> extends SharedRateLimitOptions<Req, Res> {
  /** Policies by plan. The first plan is for requests whose plan is unknown: name the strictest first. */
  readonly plans: Plans<Req, Res>
  /** Names the plan of a request. */
  readonly plan: RequestHook<[req: Req], string | undefined>
}

/** Options of `rateLimit`. */
export type RateLimitOptions<Req = unknown, Res = unknown> =
  | OnePolicyOptions<Req, Res>
  | PoliciesOptions<Req, Res>
  | PlansOptions<Req, Res>
