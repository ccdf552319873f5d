import type { Exchange, Noted, Report } from './children/api.ts'

/** Time after which an exchange without an answer counts as failed, plus the delay of timers. */
const NOTICED_MS = 250 + 50

type Route = Noted['route']

interface NotedBy extends Noted {
  readonly process: number
}

/** The records of all processes of a fleet, by process. */
export class Reports {
  slowestMs = 0
  failed = 0
  readonly unhandled: string[] = []
  readonly #decisions: NotedBy[] = []
  readonly #exchanges: Exchange[][] = []

  /** New records of each process. */
  add(reports: readonly Report[]): void {
    for (const [process, { decisions, exchanges, slowestMs, failed, unhandled }] of reports.entries()) {
      this.#decisions.push(...decisions.map((one) => ({ ...one, process })))
      this.#exchanges[process] ??= []
      this.#exchanges[process].push(...exchanges)
      this.slowestMs = Math.max(this.slowestMs, slowestMs)
      this.failed += failed
      this.unhandled.push(...unhandled)
    }
    this.#decisions.sort((a, b) => a.at - b.at)
  }

  get startedAt(): number {
    return this.#decisions[0].at
  }

  asked(route: Route, from: number, to: number): number {
    return this.#of(route, from, to).length
  }

  admitted(route: Route, from: number, to: number): number {
    return this.#of(route, from, to).filter(({ allowed }) => allowed).length
  }

  /** Maximum admitted in any window of `windowMs` that starts in the given interval. */
  most(route: Route, windowMs: number, from: number, to: number): number {
    const times = this.#of(route, from, to + windowMs).flatMap(({ at, allowed }) => (allowed ? [at] : []))
    let most = 0
    for (let first = 0, end = 0; first < times.length && times[first] < to; first++) {
      while (end < times.length && times[end] < times[first] + windowMs) end++
      most = Math.max(most, end - first)
    }
    return most
  }

  /** When the given number of requests had been admitted since `from`. */
  reachedAt(route: Route, units: number, from: number): number {
    const admitted = this.#of(route, from, Number.POSITIVE_INFINITY).filter(({ allowed }) => allowed)
    return (admitted[units - 1] ?? { at: Number.NaN }).at
  }

  /**
   * Longest time from a take in the interval until all processes could have its usage, as far as they made requests.
   */
  slowestNews(from: number, to: number): number {
    const gaps = this.#exchanges.flatMap((exchanges) => {
      const own = exchanges.filter(({ failed, endedAt }) => !failed && endedAt >= from)
      return own.map(({ endedAt }, index) => {
        const since = own[index - 1]?.requestedAt ?? from
        return since <= to ? endedAt - since : 0
      })
    })
    // one exchange reports it, and one more exchange of another process receives it
    return 2 * Math.max(...gaps)
  }

  /**
   * Requests of each process from the given time until its first failed exchange, for processes that admitted any of
   * them.
   */
  askedUnnoticed(route: Route, from: number): number {
    const since = this.#of(route, from, Number.POSITIVE_INFINITY)
    const asked = this.#exchanges.map((exchanges, process) => {
      const failed = exchanges.find((one) => one.failed && one.endedAt >= from)
      const noticedAt = failed ? Math.min(failed.endedAt, failed.requestedAt + NOTICED_MS) : from
      const own = since.filter((one) => one.process === process && one.at < noticedAt)
      return own.some(({ allowed }) => allowed) ? own.length : 0
    })
    return asked.reduce((sum, one) => sum + one, 0)
  }

  #of(route: Route, from: number, to: number): NotedBy[] {
    return this.#decisions.filter((one) => one.route === route && one.at >= from && one.at < to)
  }
}
