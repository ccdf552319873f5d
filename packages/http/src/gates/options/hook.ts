import { isPromise, type MaybePromise, type RequestView } from '@sluice/limiter-core/http'
import { type LimiterReport, reportUnlessPreflight } from '../../report/limiter-report.ts'
import type { SkipHook } from './gate-options.ts'

/**
 * Runs a user-provided function on a request. If it throws, rejects, or returns a value for which `accept` throws, the
 * result is `fallback` and the failure is reported, so that a hook never causes a status 500. Without `report`,
 * failures are ignored.
 */
export function runHook<T, U>(
  name: string,
  run: () => MaybePromise<T>,
  accept: (value: T) => U,
  fallback: U,
  report: LimiterReport | undefined,
): MaybePromise<U> {
  const failed = (error: unknown): U => {
    report?.hookFailed(name, error, `using ${typeof fallback === 'object' ? 'the first one' : fallback} instead`)
    return fallback
  }
  try {
    const value = run()
    return isPromise(value) ? Promise.resolve(value).then(accept).catch(failed) : accept(value)
  } catch (error) {
    return failed(error)
  }
}

/** Returns whether a `skip` hook skips a request. A hook that fails skips none, and is reported. */
export function isSkipped<Req>(
  skip: SkipHook<Req>,
  view: RequestView<Req>,
  report: LimiterReport,
): MaybePromise<boolean> {
  return runHook('skip', () => skip(view.raw), Boolean, false, reportUnlessPreflight(view, report))
}
