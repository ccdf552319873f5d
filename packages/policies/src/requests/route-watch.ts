import type { LimiterReport } from '@sluice/http'

/** Requests without a route, and none with one, after which it is clear that the limit runs in front of the router. */
const MANY = 100

/** Warns once if policies read the routes of requests and no request has a route. */
export class RouteWatch {
  readonly #report: LimiterReport
  #seen = 0

  constructor(report: LimiterReport) {
    this.#report = report
  }

  see(route: string | undefined): void {
    if (this.#seen >= MANY) return
    this.#seen = route === undefined ? this.#seen + 1 : MANY + 1
    if (this.#seen !== MANY) return
    this.#report.warnOnce(
      'SLUICE_NO_ROUTE',
      () => `policies match routes, and none of the first ${MANY} requests had one; pass the limit to routes instead`,
    )
  }
}
