import { isPromise } from '../contracts/maybe-promise.ts'
import type { MaybePromise } from '../contracts.ts'
import type { LimiterReport } from '../observers/limiter-report.ts'

/**
 * Runs a function of the user's on a request. Where it throws, rejects, or answers what `accept` throws at, `fallback`
 * stands in, and `report` hears of it: a hook never becomes a 500. Without a report it is nobody's fault, and nobody
 * hears of it.
 */
export function runHook<T, U>(
  name: string,
  run: () => MaybePromise<T>,
  accept: (value: T) => U,
  fallback: U,
  report: LimiterReport | undefined,
): MaybePromise<U> {
  const failed = (error: unknown): U => {
    report?.hookFailed(name, error, `${typeof fallback === 'object' ? 'the first one' : fallback} stands in`)
    return fallback
  }
  try {
    const value = run()
    return isPromise(value) ? Promise.resolve(value).then(accept).catch(failed) : accept(value)
  } catch (error) {
    return failed(error)
  }
}
