import { MOST_POLICIES, MOST_PROCESSES, type PolicyReport, type ProcessReport } from './process-report.ts'
import type { ProcessSnapshot } from './snapshot.ts'

/** One that was silent for so long is gone. */
const GONE_MS = 10_000
/** One whose first report came so soon after its start was seen whole: what it counted is of now. */
const FRESH_MS = 10_000
/** Backends of a process that are named. */
const MOST_FAILING = 3

/** What is new in a report: whether its news counts, and by how much the counts of its policies grew. */
export interface ReportGrowth {
  readonly hasNews: boolean
  /** False for a process that was there before this one: when it counted what it did is not known. */
  readonly isOfNow: boolean
  of(policy: PolicyReport): PolicyGrowth
}

/** How much of each outcome came, in their order, and how many units were moved. */
export interface PolicyGrowth {
  readonly counts: readonly number[]
  readonly units: readonly number[]
}

interface KnownProcess {
  /** The last one; without it the process is gone, and only its counts are kept, so that it may come back. */
  report: ProcessReport | undefined
  readonly counts: Map<string, PolicyCounts>
  number: number
  lastAt: number
  lastWall: number
}

type PolicyCounts = Pick<PolicyReport, 'counts' | 'units'>

const NONE: PolicyGrowth = { counts: [0, 0, 0, 0], units: [0, 0] }

/** All processes that were heard of, 256 at most: those that report, and what others had counted when they went. */
export class KnownProcesses {
  readonly #known = new Map<string, KnownProcess>()
  readonly #self: string

  constructor(self: string) {
    this.#self = self
  }

  /** Undefined for a report that is older than one that came before. `now`: monotonic ms. */
  absorb(report: ProcessReport, now: number, wall: number): ReportGrowth | undefined {
    const { id } = report.process
    const before = this.#known.get(id)
    if (before && report.number < before.number) return undefined
    const known = before ?? this.#added(id)
    const hasNews = report.number > known.number
    Object.assign(known, { report, number: report.number, lastAt: now, lastWall: wall })
    return {
      hasNews,
      isOfNow: before !== undefined || id === this.#self || report.uptimeMs < FRESH_MS,
      of: (policy) => grown(known.counts, policy),
    }
  }

  /** Lets go of what processes reported that are gone. */
  forget(now: number): void {
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
        failing: failing.slice(0, MOST_FAILING),
        isSelf,
      }
    })
    return shown.sort((a, b) => Number(b.isSelf) - Number(a.isSelf) || byName(a.host, b.host) || a.pid - b.pid)
  }

  #added(id: string): KnownProcess {
    if (this.#known.size >= MOST_PROCESSES) this.#dropSilent()
    const known = { report: undefined, counts: new Map(), number: -1, lastAt: 0, lastWall: 0 }
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
  // a process has no more of them, whatever it reports
  if (known.size >= MOST_POLICIES && !known.has(name)) return NONE
  const before = known.get(name) ?? NONE
  known.set(name, { counts, units })
  return { counts: added(before.counts, counts), units: added(before.units ?? NONE.units, units ?? NONE.units) }
}

function added(before: readonly number[], now: readonly number[]): number[] {
  return now.map((count, index) => Math.max(0, count - before[index]))
}

function byName(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
