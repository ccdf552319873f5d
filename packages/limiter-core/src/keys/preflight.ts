import { andThen } from '../contracts/maybe-promise.ts'
import type { MaybePromise, RequestView } from '../contracts.ts'
import type { LimiterReport } from '../observers/limiter-report.ts'
import { type KeySource, type ReportFallback, type ResolvedKey, reportNothing, resolveKey } from './key-source.ts'

const PREFLIGHT = '\0preflight:'

/**
 * Whether the request is a CORS preflight, or looks like one. Clients can forge all three signs, and a handler that
 * ignores the method runs as for any request.
 */
export function isPreflight(view: RequestView): boolean {
  return (
    view.method === 'OPTIONS' &&
    view.header('origin') !== undefined &&
    view.header('access-control-request-method') !== undefined
  )
}

/**
 * Returns the key that a request counts. A preflight has a separate count for its client, under the same policies: a
 * browser can read why its requests are denied, and preflights pass no more often than requests.
 */
export function requestKey<Raw>(
  source: KeySource<Raw>,
  view: RequestView<Raw>,
  report: ReportFallback,
): MaybePromise<ResolvedKey> {
  // the method alone excludes all other requests
  return view.method === 'OPTIONS' && isPreflight(view)
    ? andThen(resolveKey(source, view, reportNothing), preflightKey)
    : resolveKey(source, view, report)
}

/** No other key starts like this: after a NUL, `resolveKey` writes `address:` or a second NUL. */
export function preflightKey(key: ResolvedKey): ResolvedKey {
  return typeof key === 'string' ? PREFLIGHT + key : key
}

/** Returns the client key of a preflight key; other keys are returned unchanged. */
export function clientKeyOf(key: string): string {
  return key.charCodeAt(0) === 0 && key.startsWith(PREFLIGHT) ? key.slice(PREFLIGHT.length) : key
}

/**
 * Returns who receives reports about failures on a request. Preflights are not reported, because by definition they
 * have no credentials and no body.
 */
export function hearing(view: RequestView, report: LimiterReport): LimiterReport | undefined {
  return isPreflight(view) ? undefined : report
}
