import {
  andThen,
  badOption,
  byIp,
  isAdaptive,
  type KeySource,
  type MaybePromise,
  type Priority,
  type ReportFallback,
  type RequestView,
  reportNothing,
} from '@sluice/limiter-core/http'
import { openPrioritized } from '../../overload/priority/prioritized.ts'
import type { QueueOf } from '../../overload/priority/prioritized-cap.ts'
import type { PrioritizedInflight } from '../../overload/priority/prioritized-inflight.ts'
import type { LimiterReport } from '../../report/limiter-report.ts'
import type { InflightLimitOptions } from '../options/inflight-limit-options.ts'
import { keySourceOf } from '../options/key-option.ts'
import { checkPriorityOption, priorityOf } from '../options/request-priority.ts'
import { requestKey } from '../request-key.ts'

/** What decides the order of a request. */
export interface Rank {
  readonly priority: Priority | undefined
  readonly client: string | undefined
}

/** The options of `inflightLimit` about who is refused first when a cap is full. */
export class RequestOrder<Req> {
  readonly backend: PrioritizedInflight
  /** Whether requests may wait, so that their clients may leave meanwhile. */
  readonly waits: boolean
  readonly #options: InflightLimitOptions<Req, never>
  readonly #clientOf: KeySource<Req> | undefined
  /** Whether doubts about the client of a request are reported: it is what the option names, not an address. */
  readonly #isNamed: boolean

  private constructor(options: InflightLimitOptions<Req, never>, backend: PrioritizedInflight, waits: boolean) {
    const { fairBy, limit } = options
    this.#options = options
    this.backend = backend
    this.waits = waits
    this.#isNamed = fairBy !== undefined
    this.#clientOf = fairBy === undefined && isAdaptive(limit) ? byIp() : fairBy || undefined
  }

  /**
   * Returns undefined if there is no such option. `shortQueueOf`: how requests wait by default if processes share the
   * limit. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_KEY` and others.
   */
  static of<Req>(options: InflightLimitOptions<Req, never>, shortQueueOf: QueueOf): RequestOrder<Req> | undefined {
    const { priority, prioritizer, backend, clock, limit } = options
    const fairBy = unlessFalse(options.fairBy)
    const queue = unlessFalse(options.queue)
    const isNamed = [priority, fairBy, queue, prioritizer].some((option) => option !== undefined)
    // the backend of an adaptive limit shares the limit, and this process decides
    const isShared = isAdaptive(limit) && backend?.share !== undefined
    const isDecidedHere = backend === undefined || isShared
    if (!isDecidedHere && isNamed) {
      const expected = 'none with priority, fairBy, queue or prioritizer, which this process decides'
      throw badOption('backend', backend, expected)
    }
    const isFair = isAdaptive(limit) && options.fairBy === undefined && isDecidedHere
    const isShort = isShared && options.queue === undefined
    if (!isNamed && !isFair && !isShort) return undefined
    checkPriorityOption(priority)
    if (fairBy !== undefined) keySourceOf(fairBy)
    const ordered = openPrioritized({ queue, prioritizer, clock }, isShort ? shortQueueOf : undefined)
    return new RequestOrder(options, ordered, isShort || queue !== undefined)
  }

  rankOf(view: RequestView<Req>, report: LimiterReport, reportFallback: ReportFallback): MaybePromise<Rank> {
    const clientOf = this.backend.comparesClients ? this.#clientOf : undefined
    return andThen(priorityOf(this.#options.priority, view, report), (priority) => {
      if (!clientOf) return { priority, client: undefined }
      const client = requestKey(clientOf, view, this.#isNamed ? reportFallback : reportNothing)
      return andThen(client, (key) => ({ priority, client: typeof key === 'string' ? key : undefined }))
    })
  }
}

function unlessFalse<T>(option: T): Exclude<T, false> | undefined {
  return option === false ? undefined : (option as Exclude<T, false>)
}
