import type { AdaptiveLimit, Duration, InflightBackend, KeySource, RequestHook } from '@sluice/limiter-core/http'
import type { HeaderOptions } from '../../headers/compile-headers.ts'
import type { QueueOptions } from '../../overload/priority/prioritized.ts'
import type { Prioritizer } from '../../overload/priority/prioritizer.ts'
import type { GateOptions } from './gate-options.ts'
import type { PriorityOption } from './request-priority.ts'

/** Options of `inflightLimit`. */
export interface InflightLimitOptions<Req = unknown, Res = unknown>
  extends GateOptions<Req, Res>,
    Pick<HeaderOptions, 'headers'> {
  /**
   * Maximum number of requests in progress for each key: an integer of at least 1, or `adaptive(…)` of
   * `@sluice/overload`, which follows the service.
   */
  readonly limit: number | AdaptiveLimit
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
   * Importance of a request, or the header that names it. Under overload, the least important requests are refused
   * first. Default, also for an unknown name in the header: `normal`. A header that clients can set must be removed by
   * a proxy.
   */
  readonly priority?: PriorityOption<Req> | undefined
  /**
   * Names the client of a request. Among requests of equal priority, those of the clients with the most recent usage,
   * in service time, are refused first. Clients with new names count as one. False: all are equal. Default: the client's
   * address (`byIp()`) with an adaptive limit, otherwise false.
   */
  readonly fairBy?: KeySource<Req> | false | undefined
  /**
   * Names requests that take about equally long, for an adaptive limit: if the requests of one class become slow while
   * others do not, they get a limit of their own, and the others keep their places. `route`: method and route, or the
   * first three segments of the path in front of a router. False: requests have no classes.
   * Default: `route`.
   */
  readonly workClass?: 'route' | RequestHook<[req: Req], string> | false | undefined
  /**
   * Lets requests wait a short time for a place. False: requests do not wait. Default: with an adaptive limit that
   * processes share, as many requests as the square root of the limit of this process, for as long as requests usually
   * take, at most a second. With other limits, requests do not wait.
   */
  readonly queue?: QueueOptions | false | undefined
  /** From `createPrioritizer`, if several caps protect the same resource. Default: one for this cap. */
  readonly prioritizer?: Prioritizer | undefined
  /**
   * Time after which a permit is released even if the request is still running: 1 ms to 2^31 - 1 ms. Default: none.
   */
  readonly maxHoldMs?: Duration | undefined
  /**
   * When the permit is released. `response`: at the end of the response. `handler`: when the response has ended and the
   * handler has finished. Default: `response`.
   */
  readonly holdUntil?: 'response' | 'handler' | undefined
  /** Counts the requests in flight. Default: memory, separate for each limiter. */
  readonly backend?: InflightBackend | undefined
  /** Whether sharing permits with other caps of this name on the same backend is intended. Default: false. */
  readonly shared?: boolean | undefined
}
