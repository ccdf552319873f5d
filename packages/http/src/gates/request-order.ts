import {
  andThen,
  badOption,
  type InflightBackend,
  isHeaderName,
  keySourceOf,
  type LimiterReport,
  type MaybePromise,
  oneOf,
  optionsOf,
  type Priority,
  type ReportFallback,
  type RequestView,
  reportUnlessPreflight,
  requestKey,
} from '@sluice/limiter-core/http'
import { PRIORITIES, prioritizedInflight } from '@sluice/overload/http'
import { runHook } from './options/hook.ts'
import type { InflightLimitOptions } from './options/inflight-limit-options.ts'

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
    if (priority !== undefined && typeof priority !== 'function') headerOf(priority)
    if (fairBy !== undefined) keySourceOf(fairBy)
    return new RequestOrder(options, prioritizedInflight({ queue, prioritizer, clock }))
  }

  /** Whether requests may wait, so that their clients may leave meanwhile. */
  get waits(): boolean {
    return this.#options.queue !== undefined
  }

  rankOf(view: RequestView<Req>, report: LimiterReport, reportFallback: ReportFallback): MaybePromise<Rank> {
    const { fairBy } = this.#options
    return andThen(this.#priorityOf(view, report), (priority) => {
      if (!fairBy) return { priority, client: undefined }
      const client = requestKey(fairBy, view, reportFallback)
      return andThen(client, (key) => ({ priority, client: typeof key === 'string' ? key : undefined }))
    })
  }

  #priorityOf(view: RequestView<Req>, report: LimiterReport): MaybePromise<Priority | undefined> {
    const { priority } = this.#options
    if (priority === undefined) return undefined
    if (typeof priority !== 'function') return knownPriority(view.header(priority.header))
    const accept = (value: Priority): Priority => oneOf('priority', value, PRIORITIES)
    return runHook('priority', () => priority(view.raw), accept, 'normal', reportUnlessPreflight(view, report))
  }
}

/** A client may send any text; an unknown priority is `normal`. */
function knownPriority(text: string | undefined): Priority | undefined {
  return PRIORITIES.find((name) => name === text)
}

function headerOf(priority: unknown): void {
  const { header } = optionsOf('priority', priority as { header: string }, ['header'])
  if (!isHeaderName(header)) throw badOption('priority.header', header, 'the name of a header')
}
