import type { Clock, Mode, Observer, ProxyTrustOption, RequestHook } from '@sluice/limiter-core/http'
import type { ShedSignals } from '@sluice/overload/http'
import type { DenialMessage, DeniedHook } from '../options/rate-limit-options.ts'
import type { PriorityOption } from '../options/request-priority.ts'

/** Options of `shed`. */
export interface ShedOptions<Req = unknown, Res = unknown> extends ShedSignals {
  /** Name in denials and metrics. Default: `shed`. */
  readonly name?: string | undefined
  /**
   * Importance of a request, or the header that names it. The least important requests are refused first. Default, also
   * for an unknown name in the header: `normal`. A header that clients can set must be removed by a proxy.
   */
  readonly priority?: PriorityOption<Req> | undefined
  /** Status of a refusal, from 400 to 599. Default: 503. */
  readonly status?: number | undefined
  /** Proxies in front of the application, see `rateLimit`. Default: the framework's setting. */
  readonly trust?: ProxyTrustOption | undefined
  /** Returns true for requests that are neither counted nor refused, such as health checks. */
  readonly skip?: RequestHook<[req: Req], boolean> | undefined
  /** `shadow` only reports what would be refused. Default: `enforce`. */
  readonly mode?: Mode | undefined
  /** Body of a refusal, see `rateLimit`. Default: a problem document. */
  readonly message?: DenialMessage<Req> | undefined
  readonly denied?: DeniedHook<Req, Res> | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}
