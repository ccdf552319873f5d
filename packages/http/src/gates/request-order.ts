import {
  andThen,
  badOption,
  type InflightBackend,
  type MaybePromise,
  type Priority,
  type ReportFallback,
  type RequestView,
} from '@sluice/limiter-core/http'
import { prioritizedInflight } from '../overload/priority/prioritized.ts'
import type { LimiterReport } from '../report/limiter-report.ts'
import type { InflightLimitOptions } from './options/inflight-limit-options.ts'
import { keySourceOf } from './options/key-option.ts'
import { checkPriorityOption, priorityOf } from './options/request-priority.ts'
import { requestKey } from './request-key.ts'

/** What decides the order of a request. */
export interface Rank {
  readonly priority: Priority | undefined
  readonly client: string | undefined
}

/** The options of `inflightLimit` about who is refused first when a cap is full. */
export class RequestOrder<Req> {
  readonly backend: InflightBackend
  readonly #options: InflightLimitOptions<Req, never>

  private constructor(options: InflightLimitOptions<Req, never>, backend: InflightBackend) {
    this.#options = options
    this.backend = backend
  }

  /** Returns undefined if there is no such option. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_KEY` and others. */
  static of<Req>(options: InflightLimitOptions<Req, never>): RequestOrder<Req> | undefined {
    const { priority, fairBy, queue, prioritizer, backend, clock } = options
    if (priority === undefined && fairBy === undefined && queue === undefined && prioritizer === undefined) return
    if (backend !== undefined) {
      throw badOption(
        'backend',
        backend,
        'none with priority, fairBy, queue or prioritizer, which this process decides',
      )
    }
    checkPriorityOption(priority)
    if (fairBy !== undefined) keySourceOf(fairBy)
    return new RequestOrder(options, prioritizedInflight({ queue, prioritizer, clock }))
  }

  /** Whether requests may wait, so that their clients may leave meanwhile. */
  get waits(): boolean {
    return this.#options.queue !== undefined
  }

  rankOf(view: RequestView<Req>, report: LimiterReport, reportFallback: ReportFallback): MaybePromise<Rank> {
    const { priority: option, fairBy } = this.#options
    return andThen(priorityOf(option, view, report), (priority) => {
      if (!fairBy) return { priority, client: undefined }
      const client = requestKey(fairBy, view, reportFallback)
      return andThen(client, (key) => ({ priority, client: typeof key === 'string' ? key : undefined }))
    })
  }
}
