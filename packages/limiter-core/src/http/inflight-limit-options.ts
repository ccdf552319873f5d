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
  /** Default: `inflight`; stands in headers. */
  readonly name?: string | undefined
  /** Whose requests share the cap; default: those of the whole process. */
  readonly key?: KeySource<Req> | undefined
  /** Status of a denial; default: 503. 429 says that the client itself has too many. */
  readonly status?: number | undefined
  /** Places that a request takes; default: 1, at most the limit. A function's that is above it denies the request for good. */
  readonly weight?: number | RequestHook<[req: Req], number> | undefined
  /** A request held longer gives its place back, though it may go on: 1 ms to 2^31 - 1 ms. Default: no bound. */
  readonly maxHoldMs?: Duration | undefined
  /** `response`: until the response is over. `handler`: until the handler is done as well. */
  readonly holdUntil?: 'response' | 'handler' | undefined
  readonly backend?: InflightBackend | undefined
  /** True where the cap is to share its places: another one of this name on its backend is no mistake then. */
  readonly shared?: boolean | undefined
  readonly skip?: RequestHook<[req: Req], boolean> | undefined
  readonly mode?: Mode | undefined
  readonly denied?: DeniedAnswer<Req, Res> | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}
