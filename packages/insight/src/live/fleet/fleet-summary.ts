import type { Clock } from '@sluice/limiter-core'
import { TDigest } from '@sluice/sketches'
import { BoundedTable } from '../report/bounded-table.ts'
import type { TimelineSnapshot } from '../report/cap-snapshot.ts'
import {
  type CapReport,
  MAX_CAPS,
  MAX_EVENTS,
  MAX_POLICIES,
  MAX_SHEDS,
  type ProcessReport,
  type ReportedNews,
} from '../report/process-report.ts'
import { RouteTable } from '../report/route-table.ts'
import type { BackendSnapshot, EventSnapshot, HistorySnapshot, LiveSnapshot } from '../report/snapshot.ts'
import type { UniqueSummary } from '../uniques/unique-summary.ts'
import { TIMELINE_STEP_MS, TIMELINE_STEPS } from './cap-timeline.ts'
import { FleetBans } from './fleet-bans.ts'
import { FleetCap } from './fleet-cap.ts'
import { FleetPolicy, NOW_SECONDS, STEP_MS, STEPS } from './fleet-policy.ts'
import { FleetRoute } from './fleet-route.ts'
import { FleetShed } from './fleet-shed.ts'
import { KnownProcesses, type ReportIncrease } from './known-processes.ts'

export interface FleetSummaryOptions {
  readonly clock: Clock
  /** Id of this process. */
  readonly self: string
  /** Whether a channel is configured over which other processes report. */
  readonly isWholeFleet: boolean
  readonly uniques: UniqueSummary
}

const STATES: readonly BackendSnapshot['state'][] = ['ok', 'failing', 'open']

/** Combines the reports of all processes, including this one. */
export class FleetSummary {
  readonly #options: FleetSummaryOptions
  readonly #known: KnownProcesses
  readonly #policies = new BoundedTable(MAX_POLICIES, (name) => new FleetPolicy(name))
  readonly #caps = new BoundedTable(MAX_CAPS, (name) => new FleetCap(name))
  readonly #sheds = new BoundedTable(MAX_SHEDS, (name) => new FleetShed(name))
  readonly #routes = new RouteTable((name) => new FleetRoute(name))
  readonly #startedAt: number
  /** Running bans of all processes. */
  readonly bans: FleetBans = new FleetBans()
  #events: EventSnapshot[] = []

  constructor(options: FleetSummaryOptions) {
    this.#options = options
    this.#known = new KnownProcesses(options.self)
    this.#startedAt = options.clock.wall()
  }

  /** Adds the new part of a report. Throws if a sketch in it cannot be read; the counts have been added by then. */
  absorb(report: ProcessReport): void {
    const { clock, self, uniques } = this.#options
    const at = clock.wall()
    const growth = this.#known.absorb(report, clock.now(), at)
    if (!growth) return
    for (const policy of report.policies) {
      this.#policies.of(policy.name).add(policy, growth.of(policy), growth.isRecent ? at : undefined)
    }
    this.#absorbOverload(report, growth, at)
    if (growth.hasNews) this.#absorbNews(report.news, at)
    if (report.uniques && report.process.id !== self) uniques.merge(report.uniques)
  }

  /** Called once per second. Records the peaks of caps and drops reports of processes that are gone. */
  advance(): void {
    const { clock } = this.#options
    this.#known.dropSilent(clock.now())
    const byCap = new Map<FleetCap, CapReport[]>()
    for (const report of this.#known.reports().flatMap(({ caps }) => caps)) {
      const cap = this.#caps.of(report.name)
      byCap.set(cap, [...(byCap.get(cap) ?? []), report])
    }
    for (const [cap, reports] of byCap) cap.advance(reports, clock.wall())
  }

  /** Returns the snapshot without the metrics of attached sources and the number of unread messages. */
  snapshot(): Omit<LiveSnapshot, 'sources' | 'unreadMessages'> {
    const { clock, isWholeFleet, uniques } = this.#options
    const at = clock.wall()
    this.#known.dropSilent(clock.now())
    const reports = this.#known.reports()
    const seconds = this.#secondsOfNow(at)
    return {
      at,
      isWholeFleet,
      processes: this.#known.snapshot(),
      ...this.#rates(at, seconds),
      policies: sorted(this.#policies).map((policy) => {
        const known = reports.flatMap(({ policies }) => policies.filter(({ name }) => name === policy.name))
        return policy.snapshot(at, seconds, known)
      }),
      caps: sorted(this.#caps).map((cap) => cap.snapshot(at, seconds, this.#reportsOf(cap, reports))),
      sheds: sorted(this.#sheds).map((shed) => {
        const known = reports.flatMap(({ sheds = [] }) => sheds.filter(({ name }) => name === shed.name))
        return shed.snapshot(at, seconds, known)
      }),
      routes: [...this.#routes.values()]
        .map((route) => route.snapshot(at, seconds))
        .sort((a, b) => b.perSecond - a.perSecond),
      uniques: uniques.snapshot(),
      backends: worst(reports.flatMap(({ backends }) => backends)),
      history: this.#history(at),
      timeline: this.#timeline(at),
      bans: this.bans.snapshot(at),
      events: this.#events,
    }
  }

  #absorbOverload({ caps, sheds = [] }: ProcessReport, growth: ReportIncrease, at: number): void {
    for (const { name, byPriority } of caps) {
      const cap = this.#caps.of(name)
      const grown = byPriority && growth.ofCounts(`cap ${name}`, byPriority)
      if (grown && growth.isRecent) cap.add(grown, at)
    }
    for (const { name, byPriority } of sheds) {
      const shed = this.#sheds.of(name)
      const grown = growth.ofCounts(`shed ${name}`, byPriority)
      if (growth.isRecent) shed.add(grown, at)
    }
  }

  #absorbNews({ routes, holds, events, bans = [] }: ReportedNews, at: number): void {
    this.bans.absorb(bans)
    this.#events = [...events.toReversed(), ...this.#events].slice(0, MAX_EVENTS)
    for (const { route, method, durations } of routes) this.#routes.of(route, method).ended(digestOf(durations), at)
    for (const { cap, durations } of holds) this.#caps.of(cap).held(digestOf(durations), at)
  }

  #reportsOf({ name }: FleetCap, reports: readonly ProcessReport[]): CapReport[] {
    return reports.flatMap(({ caps }) => caps.filter((cap) => cap.name === name))
  }

  /** Length of the period for current rates, counting the current second by its elapsed part. */
  #secondsOfNow(at: number): number {
    const seconds = NOW_SECONDS - 1 + (at % 1_000) / 1_000
    return Math.min(seconds, Math.max(1, (at - this.#startedAt) / 1_000))
  }

  #rates(at: number, seconds: number): Pick<LiveSnapshot, 'ratePerSecond' | 'deniedShare'> {
    const policies = [...this.#policies.values()]
    const recent = policies.map((policy) => policy.recent(at))
    const denied = recent.reduce((sum, one) => sum + one.denied, 0)
    const all = recent.reduce((sum, one) => sum + one.allowed + one.denied + one.shadowDenied, 0)
    const hour = policies.reduce((sum, policy) => sum + policy.lastHour(at), 0)
    const hourSeconds = Math.min(3_600, Math.max(1, (at - this.#startedAt) / 1_000))
    const ratePerSecond = { now: all / seconds, lastHour: hour / hourSeconds }
    return { ratePerSecond, deniedShare: all === 0 ? 0 : denied / all }
  }

  #timeline(at: number): TimelineSnapshot {
    const { startAt, steps } = this.#since(at, TIMELINE_STEP_MS, TIMELINE_STEPS)
    const series = sorted(this.#caps).flatMap((cap) => cap.timeline(steps, at))
    return { startAt, stepMs: TIMELINE_STEP_MS, series }
  }

  /** Returns the steps from the start of this process, at most the last `most`. */
  #since(at: number, stepMs: number, most: number): { readonly startAt: number; readonly steps: number } {
    const step = Math.floor(at / stepMs)
    const steps = Math.min(most, Math.max(1, step - Math.floor(this.#startedAt / stepMs) + 1))
    return { startAt: (step - steps + 1) * stepMs, steps }
  }

  #history(at: number): HistorySnapshot {
    const { startAt, steps } = this.#since(at, STEP_MS, STEPS)
    return {
      startAt,
      stepMs: STEP_MS,
      series: sorted(this.#policies).flatMap((policy) => policy.series(steps, at)),
      caps: sorted(this.#caps).map((cap) => cap.series(steps, at)),
    }
  }
}

/** Returns the worst state of each backend. Among equal states, the one that has lasted longest. */
function worst(backends: readonly BackendSnapshot[]): BackendSnapshot[] {
  const rank = ({ state, sinceMs }: BackendSnapshot): [number, number] => [STATES.indexOf(state), sinceMs]
  const byName = new Map<string, BackendSnapshot>()
  for (const backend of backends) {
    const known = byName.get(backend.name)
    const [state, since] = rank(backend)
    const [knownState, knownSince] = known ? rank(known) : [-1, 0]
    if (state > knownState || (state === knownState && since > knownSince)) byName.set(backend.name, backend)
  }
  return [...byName.values()]
}

function digestOf(durations: string): TDigest {
  return TDigest.fromBytes(new Uint8Array(Buffer.from(durations, 'base64')))
}

function sorted<T extends { readonly name: string }>(table: BoundedTable<T>): T[] {
  return [...table.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
