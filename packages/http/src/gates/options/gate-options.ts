import type { Clock, Decision, HttpDenial, Mode, Observer, RequestHook } from '@sluice/limiter-core/http'
import type { ProxyTrustOption } from '../../proxy-trust.ts'

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

/** Options of limits of every kind. */
export interface GateOptions<Req, Res> {
  /**
   * Proxies in front of the application, such as `'cloudflare'` or `['aws-cloudfront', 'aws-alb']`. The client address is
   * then read from their headers, instead of the framework's setting. What cannot be proven counts as the peer. Default:
   * the framework's setting.
   */
  readonly trust?: ProxyTrustOption | undefined
  /** Returns true for requests that this limiter ignores, such as health checks. */
  readonly skip?: SkipHook<Req> | undefined
  /** With `shadow`, nothing is denied and observers receive what would be. Default: `enforce`. */
  readonly mode?: Mode | undefined
  /**
   * Body of a denial: a text, an object that is sent as JSON, or a function of the request that returns one of them. If
   * the function throws or rejects, the default body is sent. Cannot be combined with `denied`. Default: a problem
   * document (RFC 9457).
   */
  readonly message?: DenialMessage<Req> | undefined
  /** Writes a custom response to a denied request. */
  readonly denied?: DeniedHook<Req, Res> | undefined
  /** Receive the events of this limiter. */
  readonly observers?: readonly Observer[] | undefined
  /** Time source, which tests replace. Default: the time of the process. */
  readonly clock?: Clock | undefined
}
