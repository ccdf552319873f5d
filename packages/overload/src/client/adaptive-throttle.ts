import { integerFrom, optionalFunction, optionsOf } from '@sluice/limiter-core/backend'
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
} from './fetch-calls.ts'
import { LearningUpstream } from './learning-upstream.ts'
import { Throttle, type ThrottleStats } from './throttle.ts'
import { THROTTLE_OPTIONS, type ThrottleOptions, throttleRules } from './throttle-options.ts'

/** Options of `adaptiveThrottle`. */
export interface AdaptiveThrottleOptions<F extends FetchLike = typeof fetch> extends ThrottleOptions {
  /**
   * Returns the name of the upstream of a request. Requests of one name are throttled together. Default: the origin of
   * the URL; all relative URLs have the same name.
   */
  readonly key?: ((...request: Parameters<F>) => string) | undefined
  /**
   * How often one request may be sent again, an integer from 0 to 10. Only requests with an idempotent method or the
   * header `Idempotency-Key`, and a body that is not a stream, are sent again. Default: 2.
   */
  readonly retries?: number | undefined
}

const OPTIONS = [...THROTTLE_OPTIONS, 'key', 'retries'] as const

/**
 * Returns a `fetch` that learns at which rate each upstream accepts requests, sends no more, and sends none while the
 * upstream asks for none by `Retry-After`, `RateLimit` or one of the older fields of rate limits. A response with the
 * status 429 or 503, a network error and a timeout mean that a request was not accepted. Requests that are not sent
 * reject with the code `SLUICE_THROTTLED`. The result also has a method `stats`, which counts requests by upstream.
 * Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION`.
 */
export function adaptiveThrottle<F extends FetchLike>(
  fetch: F,
  options: AdaptiveThrottleOptions<F> = {},
): F & ThrottleStats {
  const owner = 'adaptiveThrottle'
  const send = checkedFetch(owner, fetch)
  const { key, retries = 2 } = optionsOf(owner, options, OPTIONS)
  optionalFunction(`${owner}: key`, key)
  const mostRetries = integerFrom(`${owner}: retries`, retries, 0, 10)
  const rules = throttleRules(owner, options)
  const throttle = new Throttle(rules, () => new LearningUpstream(rules))
  // async, so that an invalid request rejects, as it does with fetch
  const throttled = async (...request: readonly unknown[]): Promise<UpstreamResponse> => {
    const signal = signalOf(request)
    return throttle.run({
      key: named(`${owner}: key`, key, request, originOf(request[0])),
      retries: isRepeatable(request) ? mostRetries : 0,
      signal,
      send: () => send(...request),
      assess: (outcome) => replyOf(outcome, signal, rules.clock.wall()),
      discard: cancelBody,
    })
  }
  return Object.assign(throttled as unknown as F, { stats: () => throttle.stats() })
}
