import type { SharedState } from '@sluice/limiter-core'
import type { LimitBounds } from './learned-limit.ts'
import { LEAST_SAMPLES, type LimitAlgorithm } from './limit-algorithm.ts'
import { isLong, isPrecise, type SampleWindow, windowOf } from './sample-window.ts'
import { MOST_SAMPLES, type Samples } from './samples.ts'

/** Samples that a process reports at least, if there are as many. */
const LEAST_REPORTED = 16

interface Measured {
  /** Milliseconds since the samples began. */
  readonly lengthMs: number
  /** Places held by work that began before. */
  readonly outlasting: number
  /** Places that were lacking. */
  readonly lacking: number
}

/** Places that are lacking, per completed work, from which on the limit is in use. */
const LACKING = 0.03

/** What one process has measured under a version of a limit. */
interface Report extends Measured {
  readonly count: number
  readonly durationSum: number
  readonly inflightSum: number
  readonly maxInflight: number
  readonly durations: readonly number[]
  readonly inflights: readonly number[]
}

/** Returns the text of samples for a report. `processes`: the number of processes that report. */
export function textOf(samples: Samples, measured: Measured, processes: number): string {
  const { lengthMs, outlasting, lacking } = measured
  const { count, durationSum, inflightSum, maxInflight, durations, inflights } = samples
  if (count === 0 || !(lengthMs > 0)) return ''
  const reported = Math.max(LEAST_REPORTED, Math.ceil(MOST_SAMPLES / processes))
  const pairs: string[] = []
  for (let index = Math.max(0, count - Math.min(reported, durations.length)); index < count; index++) {
    const at = index % MOST_SAMPLES
    pairs.push(`${(durations[at] as number).toPrecision(4)}:${inflights[at]}`)
  }
  return [count, lengthMs, durationSum, inflightSum, maxInflight, outlasting, lacking, pairs.join(',')].join(';')
}

/** Learns the limit of all processes. Only one of them does at a time. */
export class FleetLearner {
  readonly #algorithm: LimitAlgorithm
  readonly #bounds: LimitBounds
  #exact: number

  constructor(algorithm: LimitAlgorithm, bounds: LimitBounds, limit: number) {
    this.#algorithm = algorithm
    this.#bounds = bounds
    this.#exact = limit
    if (limit !== bounds.initial) algorithm.resume?.()
  }

  /** Returns the next limit; undefined if the samples do not suffice. */
  next({ limit, reserved, samples = [] }: SharedState): number | undefined {
    const reports = samples.flatMap((text) => reportOf(text) ?? [])
    if (reports.length === 0) return undefined
    const window = merged(reports, limit - reserved)
    const needed = Math.min(MOST_SAMPLES, Math.max(this.#algorithm.leastSamples ?? LEAST_SAMPLES, limit))
    if (!isLong(window.count, needed, window.lengthMs, window.meanMs) || !isPrecise(window)) return undefined
    if (Math.round(this.#exact) !== limit) this.#exact = limit
    // places that are left to processes which may be cut off are not used
    const next = this.#algorithm.next(Math.max(1, this.#exact - reserved), window) + reserved
    return this.#learned(next)
  }

  /** Returns the limit before if it was lowered only to measure, and not all processes apply the lower one in time. */
  giveUp({ reserved }: SharedState): number | undefined {
    const before = this.#algorithm.giveUp?.()
    return before === undefined ? undefined : this.#learned(before + reserved)
  }

  #learned(limit: number): number {
    const { min, max } = this.#bounds
    this.#exact = Math.max(min, Math.min(max, limit))
    return Math.round(this.#exact)
  }
}

/** Returns what a text contains; undefined if it is not valid. */
function reportOf(text: string): Report | undefined {
  const parts = text.split(';')
  const numbers = parts.slice(0, 7).map(Number)
  const [count, lengthMs, durationSum, inflightSum, maxInflight, outlasting, lacking] = numbers
  const pairs = (parts[7] ?? '').split(',').map((pair) => pair.split(':').map(Number))
  const durations = pairs.map(([duration]) => duration as number)
  const inflights = pairs.map(([, inflight]) => inflight as number)
  const report = { count, lengthMs, durationSum, inflightSum, maxInflight, outlasting, lacking } as Report
  const positive = [count, lengthMs, durationSum, inflightSum, maxInflight, ...durations, ...inflights]
  const isValid = positive.every((one) => one !== undefined && one > 0 && one < Number.MAX_SAFE_INTEGER)
  return isValid && report.outlasting >= 0 && report.lacking >= 0 ? { ...report, durations, inflights } : undefined
}

/** What all processes have measured together, under a limit. `reports` has at least one. */
function merged(reports: readonly Report[], limit: number): SampleWindow {
  const sum = (of: (report: Report) => number): number => reports.reduce((all, report) => all + of(report), 0)
  const count = sum((report) => report.count)
  const meanMs = sum(({ durationSum }) => durationSum) / count
  const meanInflight = sum(inflightOf)
  // each process reports its own maximum: they are not reached at the same time, if they vary by chance
  const above = Math.sqrt(sum((report) => (report.maxInflight - inflightOf(report)) ** 2))
  // a process that uses up its share lacks places before all shares are used up
  const isLacking = sum(({ lacking }) => lacking) >= LACKING * count
  const maxInflight = Math.max(meanInflight + above, isLacking ? limit : 0)
  const highest = sum((report) => report.maxInflight)
  // of each process as many durations as it has completed work, in proportion
  const each = Math.max(...reports.map((report) => report.count / report.durations.length))
  const durations: number[] = []
  const inflights: number[] = []
  for (const report of reports) {
    const first = report.durations.length - Math.max(1, Math.round(report.count / each))
    for (let index = Math.max(0, first); index < report.durations.length; index++) {
      durations.push(report.durations[index] as number)
      inflights.push(((report.inflights[index] as number) / report.maxInflight) * highest)
    }
  }
  const lengthMs = count / sum((report) => report.count / report.lengthMs)
  const outlasting = sum((report) => report.outlasting)
  return windowOf({ durations, inflights }, { count, lengthMs, meanMs, meanInflight, maxInflight, outlasting })
}

/**
 * Places that a process held on average. Work finds its own place held when it begins: that is too much if little work
 * arrives by chance, and right if work waits for places. Little's law decides.
 */
function inflightOf({ count, lengthMs, durationSum, inflightSum }: Report): number {
  const seen = inflightSum / count
  const meanMs = durationSum / count
  // only work that began under this limit is a sample, so none has ended in the first `meanMs`
  const held = durationSum / Math.max(lengthMs - meanMs, lengthMs / 2)
  return Math.max(seen - 1, Math.min(seen, held))
}
