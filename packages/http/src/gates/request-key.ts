import {
  andThen,
  isPreflight,
  type KeySource,
  type MaybePromise,
  preflightKey,
  type ReportFallback,
  type RequestView,
  type ResolvedKey,
  reportNothing,
  resolveKey,
} from '@sluice/limiter-core/http'

/**
 * Returns the key of a request for a limiter. Preflights of a client are counted by the same policies but under a
 * separate key: if an exhausted limit also denied preflights, browsers could not read the denial of the actual request.
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

/** Returns the report for doubts about the key of a request: none are reported for a preflight, as in `requestKey`. */
export function keyReport(view: RequestView, report: ReportFallback): ReportFallback {
  return isPreflight(view) ? reportNothing : report
}
