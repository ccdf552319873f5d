import { integerFrom, kindOf, optionalFunction, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import { LearningUpstream } from './learning-upstream.ts'
import { type Outcome, safely, Throttle, type ThrottleStats } from './throttle.ts'
import { THROTTLE_OPTIONS, type ThrottleOptions, throttleRules } from './throttle-options.ts'
import type { Reply } from './upstream.ts'

/** Options of `throttled`. */
export interface ThrottledOptions<Args extends readonly unknown[], Result> extends ThrottleOptions {
  /** Returns the name of the upstream of a call. Default: all calls have the same upstream. */
  readonly key?: ((...args: Args) => string) | undefined
  /** Whether a call failed because of overload. Default: every rejected call did, and no other. */
  readonly isOverload?: ((error: unknown, result: Result | undefined) => boolean) | undefined
  /** Returns the milliseconds for which the upstream asks to receive no calls, or undefined. Default: none. */
  readonly retryAfterMs?: ((error: unknown, result: Result | undefined) => number | undefined) | undefined
  /** How often one call may be repeated, an integer from 0 to 10. Use it only if repeating is safe. Default: 0. */
  readonly retries?: number | undefined
}

const OPTIONS = [...THROTTLE_OPTIONS, 'key', 'isOverload', 'retryAfterMs', 'retries'] as const

/**
 * Returns a function that calls `call` as often as its upstream is likely to accept, such as a query or a gRPC call.
 * Calls that are not made reject with the code `SLUICE_THROTTLED`. The result also has a method `stats`, which counts
 * calls by upstream. Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION`.
 */
export function throttled<Args extends readonly unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
  options: ThrottledOptions<Args, Result> = {},
): ((...args: Args) => Promise<Result>) & ThrottleStats {
  const owner = 'throttled'
  if (typeof call !== 'function') {
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected an async function, received ${kindOf(call)}`)
  }
  const { key, isOverload, retryAfterMs, retries = 0 } = optionsOf(owner, options, OPTIONS)
  for (const [name, hook] of Object.entries({ key, isOverload, retryAfterMs }))
    optionalFunction(`${owner}: ${name}`, hook)
  const mostRetries = integerFrom(`${owner}: retries`, retries, 0, 10)
  const rules = throttleRules(owner, options)
  const throttle = new Throttle(rules, () => new LearningUpstream(rules))
  const assess = (outcome: Outcome<Result>): Reply => {
    const [error, value] = 'error' in outcome ? [outcome.error, undefined] : [undefined, outcome.value]
    const byDefault = 'error' in outcome
    const overloaded = isOverload
      ? safely(`${owner}: isOverload`, () => isOverload(error, value), byDefault)
      : byDefault
    const wait = retryAfterMs && safely(`${owner}: retryAfterMs`, () => Number(retryAfterMs(error, value)), 0)
    return { kind: overloaded ? 'overloaded' : 'accepted', waitMs: Math.max(0, wait || 0) }
  }
  const limited = (...args: Args): Promise<Result> =>
    throttle.run({
      key: key ? safely(`${owner}: key`, () => String(key(...args)), '') : '',
      retries: mostRetries,
      send: () => call(...args),
      assess,
    })
  return Object.assign(limited, { stats: () => throttle.stats() })
}
