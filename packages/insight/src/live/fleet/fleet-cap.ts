import type { TDigest } from '@sluice/sketches'
import type { CapReport } from '../report/process-report.ts'
import { RecentDigest } from '../report/recent-digest.ts'
import type { CapSeriesSnapshot, CapSnapshot } from '../report/snapshot.ts'
import { CountRing } from './count-ring.ts'
import { STEP_MS, STEPS } from './fleet-policy.ts'

const PEAK_STEPS = 2

/** Statistics of one cap over all processes. Takes 22 KB. */
export class FleetCap {
  readonly name: string
  readonly #minutes = new CountRing(STEPS, STEP_MS)
  readonly #holds = new RecentDigest()

  constructor(name: string) {
    this.name = name
  }

  /**
   * Records the sum of the peaks of all processes since their last reports, as if the peaks had occurred at the same
   * time.
   */
  raise(peaks: number, at: number): void {
    this.#minutes.raise(peaks, at)
  }

  /** Merges hold times. Throws if the sketch cannot be merged. */
  held(durations: TDigest, at: number): void {
    this.#holds.merge(durations, at)
  }

  snapshot(at: number, reports: readonly CapReport[]): CapSnapshot {
    const sum = (one: (report: CapReport) => number): number =>
      reports.reduce((total, report) => total + one(report), 0)
    const held = sum((report) => report.held)
    return {
      name: this.name,
      limit: Math.max(0, ...reports.map(({ limit }) => limit)),
      held,
      peak: Math.max(held, ...this.#minutes.values(PEAK_STEPS, at)),
      denied: sum((report) => report.denied),
      holdMs: this.#holds.percentiles(at),
    }
  }

  series(steps: number, at: number): CapSeriesSnapshot {
    return { cap: this.name, values: this.#minutes.values(steps, at) }
  }
}
