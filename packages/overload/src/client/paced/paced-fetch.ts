import type { Backend, Duration, MaybePromise, Priority } from '@sluice/limiter-core'
import { integerFrom, optionalFunction, optionsOf, parseTimerMs } from '@sluice/limiter-core/backend'
import {
  cancelBody,
  checkedFetch,
  type FetchLike,
  isRepeatable,
  named,
  originOf,
  replyOf,
  signalOf,
  type UpstreamResponse,
} from '../fetch-calls.ts'
import { Throttle } from '../throttle.ts'
import { RETRY_OPTIONS, type RetryOptions, retryRules } from '../throttle-options.ts'
import { Waits } from '../waits.ts'
import { FleetLines, LocalLine } from './line.ts'
import { type PacedStats, PacedUpstream } from './paced-upstream.ts'
import type { Turn } from './probed-rate.ts'

/** Options of `pacedFetch`. */
export interface PacedFetchOptions<F extends FetchLike = typeof fetch> extends RetryOptions {
  /** Returns the part of an origin that has limits of its own, such as the name of an API key. Default: `''`. */
  readonly partition?: ((...request: Parameters<F>) => string) | undefined
  /** Returns the priority of a request among those that wait. Default: `normal`. */
  readonly priority?: ((...request: Parameters<F>) => Priority) | undefined
  /** Longest time from a call until it is sent for the last time, 1 ms to 2^31 - 1 ms. Default: `'1m'`. */
  readonly maxWaitMs?: Duration | undefined
  /** Number of calls per origin and partition that may wait, an integer of at least 1. Default: 10,000. */
  readonly maxWaiting?: number | undefined
  /**
   * How often one request may be sent again, an integer from 0 to 10. Only requests with an idempotent method or the
   * header `Idempotency-Key`, and a body that is not a stream, are sent again. Default: 2.
   */
  readonly retries?: number | undefined
  /** Shares the pace with other processes, such as `redisBackend`. Default: each process has a pace of its own. */
  readonly backend?: Backend | undefined
}

/** Methods of functions that `pacedFetch` returns. */
export interface PacedCalls {
  /** Returns counts and the current pace, by origin and partition: `https://api.example`, or with a space and its name. */
  stats(): ReadonlyMap<string, PacedStats>
  /** Rejects all calls that wait, and later ones that would have to. A backend passed as an option stays open. */
  close(): MaybePromise<void>
}

const OPTIONS = ['partition', 'priority', 'maxWaitMs', 'maxWaiting', 'retries', 'backend', ...RETRY_OPTIONS] as const

/**
 * Returns a `fetch` whose calls wait for their turn: it reads the limits that each server announces, spreads what is left
 * over the rest of their window, and finds the rate of servers that only refuse. A call that has waited for `maxWaitMs`,
 * or would have to wait longer, rejects with the code `SLUICE_THROTTLED`. Throws `SLUICE_BAD_OPTION` or
 * `SLUICE_BAD_DURATION`.
 */
export function pacedFetch<F extends FetchLike>(fetch: F, options: PacedFetchOptions<F> = {}): F & PacedCalls {
  const owner = 'pacedFetch'
  const send = checkedFetch(owner, fetch)
  const {
    partition,
    priority,
    maxWaitMs = '1m',
    maxWaiting = 10_000,
    retries = 2,
    backend,
  } = optionsOf(owner, options, OPTIONS)
  optionalFunction(`${owner}: partition`, partition)
  optionalFunction(`${owner}: priority`, priority)
  const mostRetries = integerFrom(`${owner}: retries`, retries, 0, 10)
  const waitMs = parseTimerMs(maxWaitMs, `${owner}: maxWaitMs`)
  const most = integerFrom(`${owner}: maxWaiting`, maxWaiting, 1)
  const waits = new Waits()
  const rules = { ...retryRules(owner, options, waitMs), maxWaitMs: waitMs, maxWaiting: most, waits }
  const { clock } = rules
  const lines = backend === undefined ? undefined : new FleetLines(backend, clock)
  const throttle = new Throttle<Turn, PacedUpstream>(
    rules,
    (key) => new PacedUpstream(rules, lines?.of(key) ?? new LocalLine(clock)),
  )
  // async, so that an invalid request rejects, as it does with fetch
  const paced = async (...request: readonly unknown[]): Promise<UpstreamResponse> => {
    const signal = signalOf(request)
    const part = named(`${owner}: partition`, partition, request, '')
    return throttle.run({
      key: part === '' ? originOf(request[0]) : `${originOf(request[0])} ${part}`,
      retries: isRepeatable(request) ? mostRetries : 0,
      signal,
      priority: named(`${owner}: priority`, priority, request, 'normal') as Priority,
      sinceMs: clock.now(),
      send: () => send(...request),
      assess: (outcome) => replyOf(outcome, signal, clock.wall()),
      discard: cancelBody,
    })
  }
  const calls: PacedCalls = {
    stats: () => new Map([...throttle.upstreams].map(([key, { snapshot }]) => [key, snapshot])),
    close() {
      waits.close()
      return lines?.close()
    },
  }
  return Object.assign(paced as unknown as F, calls)
}
