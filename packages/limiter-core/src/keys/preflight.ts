import { andThen } from '../contracts/maybe-promise.ts'
import type { MaybePromise, RequestView } from '../contracts.ts'
import type { LimiterReport } from '../observers/limiter-report.ts'
import { type KeySource, type ReportFallback, type ResolvedKey, reportNothing, resolveKey } from './key-source.ts'

const PREFLIGHT = '\0preflight:'

/**
 * A CORS preflight, or whatever a client made look like one: all three signs prove nothing of who asks, and a handler
 * that does not look at the method runs as for any request.
 */
export function isPreflight(view: RequestView): boolean {
  return (
    view.method === 'OPTIONS' &&
    view.header('origin') !== undefined &&
    view.header('access-control-request-method') !== undefined
  )
}

/**
 * Whom a request counts. A preflight counts beside its client, under the same policies: so a browser whose requests are
 * denied can read why, and preflights pass no more often than requests do.
 */
export function requestKey<Raw>(
  source: KeySource<Raw>,
  view: RequestView<Raw>,
  report: ReportFallback,
): MaybePromise<ResolvedKey> {
  // the method alone says so of all others
  return view.method === 'OPTIONS' && isPreflight(view)
    ? andThen(resolveKey(source, view, reportNothing), preflightKey)
    : resolveKey(source, view, report)
}

/** No request has a key that begins so: behind a NUL `resolveKey` writes `address:`, or a second NUL. */
export function preflightKey(key: ResolvedKey): ResolvedKey {
  return typeof key === 'string' ? PREFLIGHT + key : key
}

/** The key of the client whose preflights a key counts; any other key is its own. */
export function clientKeyOf(key: string): string {
  return key.charCodeAt(0) === 0 && key.startsWith(PREFLIGHT) ? key.slice(PREFLIGHT.length) : key
}

/** Who hears of what fails on a request: nobody on a preflight, which by its standard has no credentials and no body. */
export function hearing(view: RequestView, report: LimiterReport): LimiterReport | undefined {
  return isPreflight(view) ? undefined : report
}
