import { steadyClock } from '@sluice/http/overload'
import type { Clock, Duration } from '@sluice/limiter-core'
import { badOption, clockOf, integerFrom, optionalFunction, parseDuration, parseMs } from '@sluice/limiter-core/backend'
import type { Waits } from './waits.ts'

/** Options of `pacedFetch`, `adaptiveThrottle` and `throttled`. */
export interface RetryOptions {
  /** Largest share of requests that are sent again, from 0 to 1. 100 requests can be saved up. Default: 0.1. */
  readonly retryBudget?: number | undefined
  /** Longest time for which an upstream can ask to receive no requests. Default: 300,000 (5 minutes). */
  readonly maxRetryAfterMs?: Duration | undefined
  /**
   * Number of upstreams that are remembered, an integer of at least 1. The upstream that was used the longest time ago
   * is forgotten first. Default: 1,000.
   */
  readonly maxUpstreams?: number | undefined
  /** Source of time. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
  /** Source of randomness of retries: returns a number from 0 to 1, without 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** Options of `adaptiveThrottle` and `throttled`. */
export interface ThrottleOptions extends RetryOptions {
  /**
   * Number of requests that may be sent for each one that the upstream accepts, from 1 to 1,000. All requests are sent
   * while fewer are refused. Default: 1.4.
   */
  readonly k?: number | undefined
  /**
   * Number of refused requests beyond what `k` permits at which the client starts to send less, an integer of at least
   * 0. Default: 8.
   */
  readonly minRequests?: number | undefined
  /** Time without calls after which nothing is remembered of an upstream. Default: `'1m'`. */
  readonly window?: Duration | undefined
  /** Longest time to wait before a retry; if the upstream asks for more, there is no retry. Default: 10,000. */
  readonly maxRetryDelayMs?: Duration | undefined
}

export const RETRY_OPTIONS = ['retryBudget', 'maxRetryAfterMs', 'maxUpstreams', 'clock', 'random'] as const
export const THROTTLE_OPTIONS = [
  'k',
  'window',
  'minRequests',
  'maxRetryDelayMs',
  'retryBudget',
  'maxRetryAfterMs',
  'maxUpstreams',
  'clock',
  'random',
] as const

/** Checked options of retries. */
export interface RetryRules {
  readonly retryBudget: number
  readonly maxRetryDelayMs: number
  readonly maxRetryAfterMs: number
  readonly maxUpstreams: number
  readonly clock: Clock
  readonly random: () => number
  /** Undefined if the function cannot be closed. */
  readonly waits?: Waits
}

/** Checked options. */
export interface ThrottleRules extends RetryRules {
  readonly k: number
  readonly windowMs: number
  readonly minRequests: number
}

/** Returns options with their defaults. `owner` is the start of messages. */
export function throttleRules(owner: string, options: ThrottleOptions): ThrottleRules {
  const { k = 1.4, window = '1m', minRequests = 8, maxRetryDelayMs = 10_000 } = options
  return {
    ...retryRules(owner, options, parseMs(maxRetryDelayMs, `${owner}: maxRetryDelayMs`)),
    k: numberFrom(`${owner}: k`, k, 1, 1_000),
    windowMs: parseDuration(window, `${owner}: window`),
    minRequests: integerFrom(`${owner}: minRequests`, minRequests, 0),
  }
}

/** Returns options of retries with their defaults. */
export function retryRules(owner: string, options: RetryOptions, maxRetryDelayMs: number): RetryRules {
  const { retryBudget = 0.1, random = Math.random, maxRetryAfterMs = 300_000, maxUpstreams = 1_000, clock } = options
  optionalFunction(`${owner}: random`, random)
  return {
    retryBudget: numberFrom(`${owner}: retryBudget`, retryBudget, 0, 1),
    maxRetryDelayMs,
    maxRetryAfterMs: parseMs(maxRetryAfterMs, `${owner}: maxRetryAfterMs`),
    maxUpstreams: integerFrom(`${owner}: maxUpstreams`, maxUpstreams, 1),
    clock: steadyClock(clockOf(clock)),
    random,
  }
}

function numberFrom(option: string, value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value
  throw badOption(option, value, `a number from ${least} to ${most}`)
}
