import type { Sample } from '../children/answer-record.ts'
import type { Report } from '../children/app.ts'

const BACK = 'SLUICE_BACKEND_RECOVERED'
/** Longest delay of a line that a stall of its process excuses, in milliseconds. */
const LONGEST_EMIT_MS = 200

/** The combined records of the applications of a row. */
export class Timeline {
  readonly reports: readonly Report[]
  readonly samples: readonly Sample[]

  constructor(reports: readonly Report[]) {
    this.reports = reports
    this.samples = reports.flatMap(({ samples }) => samples).sort((one, other) => one.at - other.at)
  }

  between(from: number, to: number): readonly Sample[] {
    return this.samples.filter(({ at }) => at >= from && at < to)
  }

  sum(of: (report: Report) => number): number {
    return this.reports.reduce((total, report) => total + of(report), 0)
  }

  /** Number of failures with the given error code. */
  cause(code: string): number {
    return this.sum(({ causes }) => causes[code] ?? 0)
  }

  /** Time from `at` until the first decision counted by Redis, in the slowest of the applications. */
  backAfterMs(at: number): number {
    const each = this.reports.map(({ samples }) => {
      const first = samples.find((sample) => sample.counted && sample.at >= at)
      return first === undefined ? Number.POSITIVE_INFINITY : first.endedAt - at
    })
    return Math.max(...each)
  }

  /**
   * Maximum number of log lines with one code that one application wrote within a second. Node emits a warning a tick
   * after it is written, and a stall in between makes the gap to the next line shorter.
   */
  linesASecond(): number {
    const most = this.reports.map(({ warnings, longestStallMs }) => {
      const gapMs = 990 - Math.min(longestStallMs, LONGEST_EMIT_MS)
      const failures = warnings.filter(({ code }) => code !== BACK)
      const news = failures.map(({ code, at }) =>
        failures.filter((w) => w.code === code && w.at >= at && w.at < at + gapMs),
      )
      // a recovery line follows a failure line
      const extra = warnings.length - 2 * failures.length
      return Math.max(extra + 1, ...news.map(({ length }) => length))
    })
    return Math.max(...most)
  }
}

/** The log lines of every application with their times, to explain a failed check. */
export function linesOf({ reports }: Timeline): string {
  return reports
    .map(({ warnings }) => warnings.map(({ code, at }) => `${code} ${Math.round(at)}`).join(', '))
    .join('; ')
}

/** The value below which the given fraction of the values lies. Returns 0 if there are no values. */
export function quantile(samples: readonly Sample[], share: number): number {
  const sorted = samples.map(({ ms }) => ms).sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
