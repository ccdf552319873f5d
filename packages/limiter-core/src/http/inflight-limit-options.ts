import type { RequestHook } from '../contracts/request-hook.ts'
import type { Clock, InflightBackend, Observer } from '../contracts.ts'
import type { KeySource } from '../keys/key-source.ts'
import type { Mode } from '../policy/mode.ts'
import type { Duration } from '../time/duration.ts'
import type { HeaderOptions } from './header-dialect.ts'
import type { DeniedAnswer } from './rate-limit-options.ts'

/** Options of `inflightLimit`. */
export interface InflightLimitOptions<Req = unknown, Res = unknown> extends Pick<HeaderOptions, 'headers'> {
  /** Requests in progress at once, for each key. */
  readonly limit: number
  /** Name in headers, denials and metrics. Default: `inflight`. */
  readonly name?: string | undefined
  /** What shares the places. Default: the whole process. */
  readonly key?: KeySource<Req> | undefined
  /** Status of a denial, 400 to 599. Default: 503. Use 429 for caps per client. */
  readonly status?: number | undefined
  /**
   * Places that a request takes. Default: 1. A number must be at most the limit; a request for which a function
   * returns more is denied.
   */
  readonly weight?: number | RequestHook<[req: Req], number> | undefined
  /** A request held longer gives its place back, though it may go on: 1 ms to 2^31 - 1 ms. Default: no bound. */
  readonly maxHoldMs?: Duration | undefined
  /**
   * When the place is released. Default: `response`, at the end of the response. `handler`: when the handler has
   * finished as well.
   */
  readonly holdUntil?: 'response' | 'handler' | undefined
  readonly backend?: InflightBackend | undefined
  /** Whether several caps with this name on one backend may share their places. Default: false. */
  readonly shared?: boolean | undefined
  readonly skip?: RequestHook<[req: Req], boolean> | undefined
  readonly mode?: Mode | undefined
  readonly denied?: DeniedAnswer<Req, Res> | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}
