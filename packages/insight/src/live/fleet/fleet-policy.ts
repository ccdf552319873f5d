import { OUTCOMES, type PolicyReport } from '../report/process-report.ts'
import type {
  MovedUnitsSnapshot,
  OutcomesSnapshot,
  PolicySeriesSnapshot,
  PolicySnapshot,
  TopKeySnapshot,
} from '../report/snapshot.ts'
import { mergedTop, type TopKey, type TopKeyList } from '../report/top-keys.ts'
import { CountRing } from './count-ring.ts'
import type { PolicyGrowth } from './known-processes.ts'

/** Length of the period for current rates, in seconds. */
export const NOW_SECONDS = 10
export const STEP_MS = 60_000
/** Length of the history in minutes: 24 hours. */
export const STEPS = 1_440

const HOUR_STEPS = 60

/** Decisions of one policy over all processes, per second and per minute. Takes 24 KB. */
export class FleetPolicy {
  readonly name: string
  readonly #totals = OUTCOMES.map(() => 0)
  readonly #seconds = OUTCOMES.map(() => new CountRing(NOW_SECONDS + 1, 1_000))
  readonly #minutes = OUTCOMES.map(() => new CountRing(STEPS, STEP_MS))
  #units: MovedUnitsSnapshot = { charged: 0, refunded: 0 }
  #last: PolicyReport | undefined

  constructor(name: string) {
    this.name = name
  }

  /** Adds a report. `at` is the time of the decisions; undefined if it is unknown. */
  add(report: PolicyReport, growth: PolicyGrowth, at: number | undefined): void {
    this.#last = report
    this.#units = { charged: this.#units.charged + growth.units[0], refunded: this.#units.refunded + growth.units[1] }
    growth.counts.forEach((amount, outcome) => {
      this.#totals[outcome] += amount
      if (amount === 0 || at === undefined) return
      this.#seconds[outcome].add(amount, at)
      this.#minutes[outcome].add(amount, at)
    })
  }

  /** Returns the decisions of the last 10 s. */
  recent(at: number): OutcomesSnapshot {
    return outcomes(this.#seconds.map((ring) => ring.sum(NOW_SECONDS, at)))
  }

  lastHour(at: number): number {
    const [allowed, denied, shadowDenied] = this.#minutes.map((ring) => ring.sum(HOUR_STEPS, at))
    return allowed + denied + shadowDenied
  }

  /**
   * `seconds` is the length of the recent period. `reports` contains the report of this policy from each live process.
   */
  snapshot(at: number, seconds: number, reports: readonly PolicyReport[]): PolicySnapshot {
    const { limit = 0, windowMs = 0, unit = 'requests', calendar } = this.#last ?? {}
    const recent = this.recent(at)
    const nearest = reports.flatMap((report) => report.nearest ?? []).sort((a, b) => b.usedShare - a.usedShare)[0]
    const shadow = reports.filter((report) => report.shadow).length
    return {
      name: this.name,
      limit,
      windowMs,
      unit,
      ...(calendar && { calendar }),
      modes: { enforce: reports.length - shadow, shadow },
      total: outcomes(this.#totals),
      ...((this.#units.charged > 0 || this.#units.refunded > 0) && { units: this.#units }),
      perSecond: outcomes(OUTCOMES.map((outcome) => recent[outcome] / seconds)),
      ...(nearest && { nearest }),
      topAllowed: shownTop(reports.map(({ topAllowed }) => topAllowed)),
      topDenied: shownTop(reports.map(({ topDenied }) => topDenied)),
    }
  }

  /** Returns the series of the outcomes that occurred. */
  series(steps: number, at: number): PolicySeriesSnapshot[] {
    const series = OUTCOMES.map((outcome, index) => {
      return { policy: this.name, outcome, values: this.#minutes[index].values(steps, at) }
    })
    return series.filter(({ values }) => values.some((value) => value > 0))
  }
}

function outcomes([allowed, denied, shadowDenied, uncounted]: readonly number[]): OutcomesSnapshot {
  return { allowed, denied, shadowDenied, uncounted }
}

function shownTop(lists: readonly (TopKeyList | undefined)[]): TopKeySnapshot[] {
  const top = mergedTop(lists.flatMap((list) => list ?? []))
  return top.map(([id, key, count, error]: TopKey) => ({ id, key, count, error }))
}
