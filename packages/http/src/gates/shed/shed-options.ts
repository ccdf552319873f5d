import type { ShedSignals } from '../../overload/health/shedder-options.ts'
import type { GateOptions } from '../options/gate-options.ts'
import type { PriorityOption } from '../options/request-priority.ts'

/** Options of `shed`. */
export interface ShedOptions<Req = unknown, Res = unknown> extends GateOptions<Req, Res>, ShedSignals {
  /** Name in denials and metrics. Default: `shed`. */
  readonly name?: string | undefined
  /**
   * Importance of a request, or the header that names it. The least important requests are refused first. Default, also
   * for an unknown name in the header: `normal`. A header that clients can set must be removed by a proxy.
   */
  readonly priority?: PriorityOption<Req> | undefined
  /** Status of a refusal, from 400 to 599. Default: 503. */
  readonly status?: number | undefined
}
