import {
  MAX_CAPS,
  MAX_POLICIES,
  MAX_PROCESSES,
  MAX_SHEDS,
  type PolicyReport,
  type ProcessReport,
} from '../report/process-report.ts'
import type { ProcessSnapshot } from '../report/snapshot.ts'

/** A process without a report for this long is considered gone. */
const GONE_MS = 10_000
/** If the first report of a process arrives within this time after its start, its counts are recent. */
const FRESH_MS = 10_000
/** Maximum number of failing backends listed per process. */
const MAX_FAILING = 3

/** The new part of a report: whether its news has to be counted, and by how much its counts grew. */
export interface ReportIncrease {
  readonly hasNews: boolean
  /** False if the process ran before this one received its first report: the time of its decisions is unknown. */
  readonly isRecent: boolean
  of(policy: PolicyReport): PolicyGrowth
  /** Returns the increase of further counts, which have this name in the process. */
  ofCounts(name: string, counts: readonly number[]): readonly number[]
}

/** Increase of each outcome count (in the order of `OUTCOMES`) and of charged and refunded units. */
export interface PolicyGrowth {
  readonly counts: readonly number[]
  readonly units: readonly number[]
}

interface KnownProcess {
  /** Last report; undefined if the process is gone. Its counts are kept in case it returns. */
  report: ProcessReport | undefined
  readonly counts: Map<string, PolicyCounts>
  readonly others: Map<string, readonly number[]>
  number: number
  lastAt: number
  lastWall: number
}

type PolicyCounts = Pick<PolicyReport, 'counts' | 'units'>

const NONE: PolicyGrowth = { counts: [0, 0, 0, 0], units: [0, 0] }

/** All processes that have reported, at most 256. Keeps the counts of processes that are gone. */
export class KnownProcesses {
  readonly #known = new Map<string, KnownProcess>()
  readonly #self: string

  constructor(self: string) {
    this.#self = self
  }

  /** Stores a report. Returns undefined if it is older than the last one. `now` is monotonic ms. */
  absorb(report: ProcessReport, now: number, wall: number): ReportIncrease | undefined {
    const { id } = report.process
    const before = this.#known.get(id)
    if (before && report.number < before.number) return undefined
    const known = before ?? this.#added(id)
    const hasNews = report.number > known.number
    Object.assign(known, { report, number: report.number, lastAt: now, lastWall: wall })
    return {
      hasNews,
      isRecent: before !== undefined || id === this.#self || report.uptimeMs < FRESH_MS,
      of: (policy) => grown(known.counts, policy),
      ofCounts: (name, counts) => grownCounts(known.others, name, counts),
    }
  }

  /** Drops the reports of processes that are gone. */
  dropSilent(now: number): void {
    for (const [id, known] of this.#known) {
      if (id !== this.#self && now > known.lastAt + GONE_MS) known.report = undefined
    }
  }

  reports(): ProcessReport[] {
    return [...this.#known.values()].flatMap(({ report }) => report ?? [])
  }

  snapshot(): ProcessSnapshot[] {
    const shown = [...this.#known.values()].flatMap(({ report, lastWall }) => {
      if (!report) return []
      const { process, uptimeMs, memoryBytes, lagMs = null, backends } = report
      const failing = backends.filter(({ state }) => state !== 'ok').map(({ name }) => name)
      const isSelf = process.id === this.#self
      return {
        ...process,
        lastAt: lastWall,
        uptimeMs,
        memoryBytes,
        lagMs,
        failing: failing.slice(0, MAX_FAILING),
        isSelf,
      }
    })
    return shown.sort((a, b) => Number(b.isSelf) - Number(a.isSelf) || byName(a.host, b.host) || a.pid - b.pid)
  }

  #added(id: string): KnownProcess {
    if (this.#known.size >= MAX_PROCESSES) this.#dropSilent()
    const known = { report: undefined, counts: new Map(), others: new Map(), number: -1, lastAt: 0, lastWall: 0 }
    this.#known.set(id, known)
    return known
  }

  #dropSilent(): void {
    let silent: string | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [id, { lastAt }] of this.#known) {
      if (id === this.#self || lastAt >= least) continue
      silent = id
      least = lastAt
    }
    if (silent !== undefined) this.#known.delete(silent)
  }
}

function grown(known: Map<string, PolicyCounts>, { name, counts, units }: PolicyReport): PolicyGrowth {
  // a report never has more policies, so a process that exceeds the limit is misbehaving
  if (known.size >= MAX_POLICIES && !known.has(name)) return NONE
  const before = known.get(name) ?? NONE
  known.set(name, { counts, units })
  return { counts: added(before.counts, counts), units: added(before.units ?? NONE.units, units ?? NONE.units) }
}

function grownCounts(
  known: Map<string, readonly number[]>,
  name: string,
  counts: readonly number[],
): readonly number[] {
  const before = known.get(name)
  if (!before && known.size >= MAX_CAPS + MAX_SHEDS) return counts.map(() => 0)
  known.set(name, counts)
  return before ? added(before, counts) : counts
}

function added(before: readonly number[], now: readonly number[]): number[] {
  return now.map((count, index) => Math.max(0, count - before[index]))
}

function byName(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
