import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type {
  CapHandle,
  Clock,
  Decision,
  ObservedCap,
  ObservedRequest,
  ObserverEvent,
  Policy,
} from '@sluice/limiter-core'
import type { TDigest } from '@sluice/sketches'
import { boundedText } from '../../bounded-text.ts'
import { isCountedByBackend } from '../../is-counted.ts'
import { BoundedTable } from '../report/bounded-table.ts'
import {
  type CapReport,
  type HoldReport,
  MAX_CAPS,
  MAX_POLICIES,
  MAX_RANKED_POLICIES,
  MAX_REPORTED_ROUTES,
  MAX_SHEDS,
  type PolicyReport,
  type ProcessFacts,
  type ProcessReport,
  REPORT_MS,
  type ReportedNews,
  type RouteReport,
} from '../report/process-report.ts'
import { RouteTable } from '../report/route-table.ts'
import type { KeyNames } from '../report/top-keys.ts'
import { VERSION } from '../report/version.ts'
import type { UniqueSummary } from '../uniques/unique-summary.ts'
import { BackendStates } from './backend-states.ts'
import { CapSummary } from './cap-summary.ts'
import { EventLog } from './event-log.ts'
import { PolicySummary } from './policy-summary.ts'
import { RecentBans } from './recent-bans.ts'
import type { RecentDenials } from './recent-denials.ts'
import { RequestSample } from './request-sample.ts'
import { ResponseEnds } from './response-ends.ts'
import { RouteSummary } from './route-summary.ts'
import { ShedSummary } from './shed-summary.ts'

export interface ProcessSummaryOptions {
  readonly clock: Clock
  readonly names: KeyNames
  readonly uniques: UniqueSummary
  readonly denials: RecentDenials
  /** Returns the number of requests that wait, by cap. */
  readonly waiting: () => ReadonlyMap<string, number>
}

/** Collects the statistics of this process and creates its reports. */
export class ProcessSummary {
  readonly facts: ProcessFacts
  readonly #clock: Clock
  readonly #names: KeyNames
  readonly #uniques: UniqueSummary
  readonly #denials: RecentDenials
  readonly #waiting: () => ReadonlyMap<string, number>
  readonly #policies = new BoundedTable(MAX_POLICIES, (name) => new PolicySummary(name))
  readonly #caps = new BoundedTable(MAX_CAPS, (name) => new CapSummary(name))
  readonly #sheds = new BoundedTable(MAX_SHEDS, (name) => new ShedSummary(name))
  readonly #routes = new RouteTable((name) => new RouteSummary(name))
  readonly #backends = new BackendStates()
  readonly #events = new EventLog()
  readonly #bans = new RecentBans()
  readonly #ends = new ResponseEnds()
  readonly #sample = new RequestSample()
  readonly #startedAt: number
  #number = 0
  #lagMs = 0
  #reportedAt: number
  #reportedRoutes = 0

  constructor({ clock, names, uniques, denials, waiting }: ProcessSummaryOptions) {
    this.#clock = clock
    this.#names = names
    this.#uniques = uniques
    this.#denials = denials
    this.#waiting = waiting
    this.#startedAt = clock.now()
    this.#reportedAt = this.#startedAt
    const id = randomBytes(12).toString('base64url')
    this.facts = { id, host: boundedText(hostname()), pid: process.pid, version: VERSION, startedAt: clock.wall() }
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    const { verdicts, binding, counted, source } = decision
    const isCounted = isCountedByBackend(decision)
    for (let index = 0; index < verdicts.length; index++) {
      const verdict = verdicts[index]
      const policy = this.#policies.of(verdict.policy.name)
      policy.decided(verdict, decision.countedEach?.[index] ?? isCounted)
      if (verdict === binding) policy.bound(key, decision)
    }
    if (counted) this.#backends.answered(source)
    const atEnd = this.#uniques.decided(key, request)
    if (request) this.#watch(request, decision.allowed, atEnd)
  }

  charged(units: number, { name }: Policy): void {
    this.#policies.of(name).charged(units)
  }

  capOpened(cap: CapHandle): void {
    this.#caps.of(cap.name).opened(cap)
  }

  permitAcquired(_key: string, cap: ObservedCap): void {
    this.#caps.of(cap.name).acquired(cap)
  }

  permitReleased(_key: string, heldMs: number, cap: ObservedCap): void {
    this.#caps.of(cap.name).released(cap, heldMs)
  }

  capDenied(_key: string, cap: ObservedCap): void {
    this.#caps.of(cap.name).denied(cap)
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    this.#backends.event(name, data, this.#clock.now())
    if (name === 'shed') this.#sheds.of(String(data.policy)).shed(data)
    if (name === 'ban') this.#bans.add(data, this.#clock.wall(), this.#names)
    this.#events.add(name, data, this.#clock.wall(), this.#names.shown)
  }

  /** Returns the current counts without news and unique keys, which are kept for the next report. */
  current(): ProcessReport {
    const wall = this.#clock.wall()
    const now = this.#clock.now()
    for (const policy of this.#policies.values()) policy.advance(wall)
    this.#uniques.advance(wall)
    return {
      process: this.facts,
      number: this.#number,
      // a clock that was set back after the start
      uptimeMs: Math.max(0, now - this.#startedAt),
      memoryBytes: process.memoryUsage.rss(),
      lagMs: this.#lagMs,
      policies: this.#policyReports(),
      caps: this.#capReports(),
      sheds: [...this.#sheds.values()].map((shed) => shed.report()),
      backends: this.#backends.report(now),
      news: { routes: [], holds: [], events: [] },
    }
  }

  /** Creates the next report, with all news since the previous one. */
  next(): ProcessReport {
    this.#number++
    this.#measureLag()
    const report = { ...this.current(), uniques: this.#uniques.report(), news: this.#news() }
    for (const cap of this.#caps.values()) cap.resetPeak()
    for (const shed of this.#sheds.values()) shed.advance()
    this.#sample.advance()
    this.#ends.forget()
    return report
  }

  #measureLag(): void {
    const now = this.#clock.now()
    this.#lagMs = Math.max(0, Math.round(now - this.#reportedAt - REPORT_MS))
    this.#reportedAt = now
  }

  /** Keys with the most requests, and keys closest to their limit. */
  *keys(): Iterable<string> {
    for (const policy of this.#policies.values()) yield* policy.keys()
  }

  #watch(request: ObservedRequest, allowed: boolean, atEnd: ((end: ObservedRequest) => void) | undefined): void {
    if (!(allowed || atEnd) || this.#ends.isWatched(request)) return
    const weight = atEnd ? 1 : this.#sample.weight()
    if (weight === 0) {
      this.#ends.exclude(request)
      return
    }
    const start = this.#clock.now()
    // read the route at the end of the response: routers set it after the decision
    const ended = (): void => {
      atEnd?.(request)
      if (allowed) this.#routes.of(request.route, request.method).durations.add(this.#since(start), weight)
    }
    this.#ends.watch(request, ended)
  }

  #since(start: number): number {
    return Math.max(0, this.#clock.now() - start)
  }

  #policyReports(): PolicyReport[] {
    const byUse = [...this.#policies.values()].sort((a, b) => b.decisions - a.decisions)
    return byUse.map((policy, rank) => policy.report(this.#names, rank < MAX_RANKED_POLICIES))
  }

  #capReports(): CapReport[] {
    const waiting = new Map<CapSummary, number>()
    for (const [name, number] of this.#waiting()) {
      const cap = this.#caps.of(name)
      waiting.set(cap, (waiting.get(cap) ?? 0) + number)
    }
    return [...this.#caps.values()].map((cap) => cap.report(waiting.get(cap) ?? 0))
  }

  #news(): ReportedNews {
    return {
      routes: this.#routeNews(),
      holds: this.#holdNews(),
      events: this.#events.take(),
      denials: this.#denials.news(this.#names),
      bans: this.#bans.take(),
    }
  }

  #routeNews(): RouteReport[] {
    const all = this.#routes.values()
    const from = this.#reportedRoutes
    const news: RouteReport[] = []
    for (let index = 0; index < all.length && news.length < MAX_REPORTED_ROUTES; index++) {
      const { name, durations } = all[(from + index) % all.length]
      this.#reportedRoutes = from + index + 1
      if (durations.count > 0) news.push({ ...name, durations: taken(durations) })
    }
    return news
  }

  #holdNews(): HoldReport[] {
    const held = [...this.#caps.values()].filter(({ holds }) => holds.count > 0)
    return held.map(({ name, holds }) => ({ cap: name, durations: taken(holds) }))
  }
}

function taken(digest: TDigest): string {
  digest.compress()
  const bytes = Buffer.from(digest.toBytes()).toString('base64')
  digest.clear()
  return bytes
}
