import type { Exchange, Noted, Report } from './children/api.ts'

/** After which an exchange without an answer counts as failed, and what a timer may be late. */
const NOTICED_MS = 250 + 50

type Route = Noted['route']

interface NotedBy extends Noted {
  readonly process: number
}

/** What the processes of a fleet noted, each of them in its place. */
export class Reports {
  slowestMs = 0
  failed = 0
  readonly unhandled: string[] = []
  readonly #decisions: NotedBy[] = []
  readonly #exchanges: Exchange[][] = []

  /** What each noted since the last time. */
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

  /** The most admitted in any window of `windowMs` that begins between two instants. */
  most(route: Route, windowMs: number, from: number, to: number): number {
    const times = this.#of(route, from, to + windowMs).flatMap(({ at, allowed }) => (allowed ? [at] : []))
    let most = 0
    for (let first = 0, end = 0; first < times.length && times[first] < to; first++) {
      while (end < times.length && times[end] < times[first] + windowMs) end++
      most = Math.max(most, end - first)
    }
    return most
  }

  /** When so many had been admitted since `from`. */
  reachedAt(route: Route, units: number, from: number): number {
    const admitted = this.#of(route, from, Number.POSITIVE_INFINITY).filter(({ allowed }) => allowed)
    return (admitted[units - 1] ?? { at: Number.NaN }).at
  }

  /** The longest from a take between two instants until all processes could know of it, as far as they asked. */
  slowestNews(from: number, to: number): number {
    const gaps = this.#exchanges.flatMap((exchanges) => {
      const own = exchanges.filter(({ failed, endedAt }) => !failed && endedAt >= from)
      return own.map(({ endedAt }, index) => {
        const since = own[index - 1]?.askedAt ?? from
        return since <= to ? endedAt - since : 0
      })
    })
    // one exchange tells it, and one more of another process hears of it
    return 2 * Math.max(...gaps)
  }

  /** Requests of each process from an instant until its first exchange failed, of those that admitted any of them. */
  askedUnnoticed(route: Route, from: number): number {
    const since = this.#of(route, from, Number.POSITIVE_INFINITY)
    const asked = this.#exchanges.map((exchanges, process) => {
      const failed = exchanges.find((one) => one.failed && one.endedAt >= from)
      const noticedAt = failed ? Math.min(failed.endedAt, failed.askedAt + NOTICED_MS) : from
      const own = since.filter((one) => one.process === process && one.at < noticedAt)
      return own.some(({ allowed }) => allowed) ? own.length : 0
    })
    return asked.reduce((sum, one) => sum + one, 0)
  }

  #of(route: Route, from: number, to: number): NotedBy[] {
    return this.#decisions.filter((one) => one.route === route && one.at >= from && one.at < to)
  }
}
