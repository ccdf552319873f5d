import type { TDigest } from '@sluice/sketches'
import { DENIAL_REASONS, PRIORITIES } from '../../priorities.ts'
import type {
  CapPrioritySnapshot,
  CapReasonSnapshot,
  CapSnapshot,
  CapTimelineSnapshot,
} from '../report/cap-snapshot.ts'
import type { CapReport } from '../report/process-report.ts'
import { RecentDigest } from '../report/recent-digest.ts'
import type { CapSeriesSnapshot } from '../report/snapshot.ts'
import { CapTimeline } from './cap-timeline.ts'
import { CountRing } from './count-ring.ts'
import { STEP_MS, STEPS } from './fleet-policy.ts'
import { PriorityRates } from './priority-rates.ts'

const PEAK_STEPS = 2

/** Statistics of one cap over all processes. Takes 36 KB. */
export class FleetCap {
  readonly name: string
  readonly #minutes = new CountRing(STEPS, STEP_MS)
  readonly #holds = new RecentDigest()
  readonly #timeline = new CapTimeline()
  readonly #admitted = new PriorityRates()
  readonly #denied = new PriorityRates()

  constructor(name: string) {
    this.name = name
  }

  /** Called once per second with the report of this cap from each live process. Peaks add up as if they coincided. */
  advance(reports: readonly CapReport[], at: number): void {
    const peaks = sumOf(reports, ({ peak }) => peak)
    this.#minutes.raise(peaks, at)
    const waiting = sumOf(reports, (report) => report.waiting ?? 0)
    this.#timeline.state({ limit: limitOf(reports), held: peaks, waiting }, at)
  }

  /** Adds new permits and denials, in the order of `CapReport.byPriority`. */
  add(byPriority: readonly number[], at: number): void {
    const denied = byPriority.slice(PRIORITIES.length)
    this.#admitted.add(byPriority.slice(0, PRIORITIES.length), at)
    this.#denied.add(denied, at)
    if (denied.some((amount) => amount > 0)) this.#timeline.denied(denied, at)
  }

  /** Merges hold times. Throws if the sketch cannot be merged. */
  held(durations: TDigest, at: number): void {
    this.#holds.merge(durations, at)
    this.#timeline.held(durations, at)
  }

  /** `seconds` is the length of the recent period. */
  snapshot(at: number, seconds: number, reports: readonly CapReport[]): CapSnapshot {
    const held = sumOf(reports, (report) => report.held)
    return {
      name: this.name,
      limit: limitOf(reports),
      held,
      waiting: sumOf(reports, ({ waiting = 0 }) => waiting),
      peak: Math.max(held, ...this.#minutes.values(PEAK_STEPS, at)),
      denied: sumOf(reports, (report) => report.denied),
      byPriority: this.#byPriority(at, seconds, reports),
      byReason: byReason(reports),
      holdMs: this.#holds.percentiles(at),
      ...this.#objective(at, reports),
    }
  }

  /** The objective of the process that reported first: all should have the same. */
  #objective(at: number, reports: readonly CapReport[]): Pick<CapSnapshot, 'objective'> {
    const objective = reports.find((report) => report.objective)?.objective
    if (!objective) return {}
    const [quantile, targetMs] = objective
    return { objective: { quantile, targetMs, measuredMs: this.#holds.quantiles([quantile], at)[0] } }
  }

  series(steps: number, at: number): CapSeriesSnapshot {
    return { cap: this.name, values: this.#minutes.values(steps, at) }
  }

  timeline(steps: number, at: number): CapTimelineSnapshot[] {
    return this.#timeline.series(this.name, steps, at)
  }

  #byPriority(at: number, seconds: number, reports: readonly CapReport[]): CapPrioritySnapshot[] {
    const all = PRIORITIES.map((priority, index) => ({
      priority,
      admitted: sumOf(reports, ({ byPriority }) => byPriority?.[index] ?? 0),
      denied: sumOf(reports, ({ byPriority }) => byPriority?.[PRIORITIES.length + index] ?? 0),
      perSecond: {
        admitted: this.#admitted.perSecond(priority, at, seconds),
        denied: this.#denied.perSecond(priority, at, seconds),
      },
    }))
    return all.filter(({ admitted, denied }) => admitted + denied > 0)
  }
}

/** Every process has its own places of a cap in its memory. Other caps share their places. */
function limitOf(reports: readonly CapReport[]): number {
  const own = reports.filter(({ isLocal }) => isLocal)
  const shared = reports.filter(({ isLocal }) => !isLocal)
  return sumOf(own, ({ limit }) => limit) + Math.max(0, ...shared.map(({ limit }) => limit))
}

function byReason(reports: readonly CapReport[]): CapReasonSnapshot[] {
  const all = DENIAL_REASONS.map((reason, index) => {
    return { reason, denied: sumOf(reports, (report) => report.byReason?.[index] ?? 0) }
  })
  return all.filter(({ denied }) => denied > 0)
}

function sumOf(reports: readonly CapReport[], one: (report: CapReport) => number): number {
  return reports.reduce((total, report) => total + one(report), 0)
}
