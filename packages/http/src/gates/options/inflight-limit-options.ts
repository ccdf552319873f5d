import type {
  Clock,
  Duration,
  HeaderOptions,
  InflightBackend,
  KeySource,
  Mode,
  Observer,
  ProxyTrustOption,
  RequestHook,
} from '@sluice/limiter-core/http'
import type { DenialMessage, DeniedHook } from './rate-limit-options.ts'

/** Options of `inflightLimit`. */
export interface InflightLimitOptions<Req = unknown, Res = unknown> extends Pick<HeaderOptions, 'headers'> {
  /** Maximum number of requests in progress for each key, an integer of at least 1. */
  readonly limit: number
  /** Name in headers, denials and metrics. Default: `inflight`. */
  readonly name?: string | undefined
  /** Names the key of a request; each key has its own limit. Default: one key for the whole process. */
  readonly key?: KeySource<Req> | undefined
  /** Status of a denial, 400 to 599. Default: 503. Use 429 for caps per client. */
  readonly status?: number | undefined
  /**
   * Number of permits that a request takes. Default: 1. A number must be at most the limit. If a function returns more
   * than the limit, the request is denied and `Retry-After` is omitted.
   */
  readonly weight?: number | RequestHook<[req: Req], number> | undefined
  /**
   * Time after which a permit is released even if the request is still running: 1 ms to 2^31 - 1 ms. Default: none.
   */
  readonly maxHoldMs?: Duration | undefined
  /**
   * When the permit is released. `response`: at the end of the response. `handler`: when the response has ended and the
   * handler has finished. Default: `response`.
   */
  readonly holdUntil?: 'response' | 'handler' | undefined
  readonly backend?: InflightBackend | undefined
  /** Whether sharing permits with other caps of this name on the same backend is intended. Default: false. */
  readonly shared?: boolean | undefined
  /** Proxies in front of the application, see `rateLimit`. Default: the framework's setting. */
  readonly trust?: ProxyTrustOption | undefined
  readonly skip?: RequestHook<[req: Req], boolean> | undefined
  readonly mode?: Mode | undefined
  /** Body of a denial, see `rateLimit`. Default: a problem document. */
  readonly message?: DenialMessage<Req> | undefined
  readonly denied?: DeniedHook<Req, Res> | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}
