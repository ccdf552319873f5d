import type {
  AuditLine,
  ControlEntry,
  ControlRequest,
  Explanation,
  InsightSnapshot,
  SnapshotOutcome,
} from '@sluice/insight'
import { systemClock } from '@sluice/limiter-core/backend'

const MINUTE = 60_000
const STEPS = 1_440

/**
 * Simulated data for the page: a fleet of three processes with wave-shaped traffic. Tests can override parts of the
 * snapshot.
 */
export class WatchedFleet {
  readonly #changes: Partial<InsightSnapshot>
  /** Additional decisions, all of them in the current minute. */
  extra = 0
  events: InsightSnapshot['events'] | undefined
  /** Changes by operators, latest first. */
  changes: readonly ControlEntry[] = []
  /** Number of snapshots that pages requested. */
  asked = 0

  constructor(changes: Partial<InsightSnapshot> = {}) {
    this.#changes = changes
  }

  async explain(key: string, { cost = 1 }: { readonly cost?: number | undefined } = {}): Promise<Explanation> {
    return { ...explained(systemClock.wall()), key, cost }
  }

  keyOf(id: string): string | undefined {
    return id === 'unseen' ? undefined : id
  }

  async control(request: ControlRequest): Promise<ControlEntry> {
    const at = systemClock.wall()
    const { duration: _, by = 'code', ...change } = request
    const entry = { ...change, id: `c${this.changes.length}`, at, endsAt: at + 15 * MINUTE, by }
    this.changes = [entry, ...this.changes]
    return entry
  }

  async undo(id: string): Promise<boolean> {
    const before = this.changes.length
    this.changes = this.changes.filter((entry) => entry.id !== id)
    return this.changes.length < before
  }

  controls(): readonly ControlEntry[] {
    return this.changes
  }

  audit(): readonly AuditLine[] {
    return this.changes.map((entry) => ({ at: entry.at, event: 'begun', entry, text: `${entry.by}: ${entry.action}` }))
  }

  snapshot(): InsightSnapshot {
    this.asked++
    return {
      ...fleetAt(systemClock.wall(), this.extra),
      controls: this.changes,
      ...(this.events && { events: this.events }),
      ...this.#changes,
    }
  }
}

function fleetAt(at: number, extra: number): InsightSnapshot {
  const startAt = Math.floor(at / MINUTE) * MINUTE - (STEPS - 1) * MINUTE
  const series = (policy: string, outcome: SnapshotOutcome, size: number) => ({
    policy,
    outcome,
    values: Array.from({ length: STEPS }, (_, step) => {
      const value = Math.round(60 * size * (1 + 0.4 * Math.sin(step / 7) + 0.1 * Math.sin(step * 2)))
      return step === STEPS - 1 ? Math.round((value * (at % MINUTE)) / MINUTE) + extra : value
    }),
  })
  const held = (cap: string, limit: number, usual: number) => ({
    cap,
    values: Array.from({ length: STEPS }, (_, step) =>
      Math.min(limit, Math.round(usual * (1 + 0.5 * Math.sin(step / 9)))),
    ),
  })
  const process = (pid: number, isSelf: boolean) => ({
    ...{ id: `p${pid}`, host: 'web-1', pid, version: '0.1.0', lastAt: at, uptimeMs: 7_980_000, isSelf },
    ...{ startedAt: at - 7_980_000, memoryBytes: 84e6 + pid * 1e3, lagMs: 2, failing: [] },
  })
  return {
    at,
    isWholeFleet: true,
    processes: [process(4_711, true), process(4_712, false), process(4_713, false)],
    ratePerSecond: { now: 412 + extra, lastHour: 388.2 },
    deniedShare: 0.012,
    policies: policiesOf(extra),
    caps: [
      {
        ...{ name: 'reports', limit: 20, held: 17, waiting: 3, peak: 20, denied: 31 },
        byPriority: [
          { priority: 'critical', admitted: 1_204, denied: 0, perSecond: { admitted: 4, denied: 0 } },
          { priority: 'sheddable', admitted: 310, denied: 31, perSecond: { admitted: 5, denied: 0.5 } },
        ],
        byReason: [
          { reason: 'priority', denied: 24 },
          { reason: 'timeout', denied: 7 },
        ],
        holdMs: { p50: 840, p90: 2_300, p99: 9_100 },
      },
      {
        ...{ name: 'uploads', limit: 50, held: 6, waiting: 0, peak: 14, denied: 0, byReason: [] },
        byPriority: [{ priority: 'normal', admitted: 9_410, denied: 0, perSecond: { admitted: 12, denied: 0 } }],
        holdMs: { p50: 120, p90: 300, p99: 640 },
      },
    ],
    sheds: [],
    routes: [
      { route: '/search', method: 'GET', p50: 38, p90: 122, p99: 840, perSecond: 96 },
      { route: '/orders/:id', method: 'GET', p50: 4.2, p90: 9, p99: 31, perSecond: 210 },
      { route: '/login', method: 'POST', p50: 61, p90: 80, p99: 120, perSecond: 3.4 },
    ],
    uniques: { hour: 8_410, day: 61_200 },
    backends: [{ name: 'redis', state: 'ok', sinceMs: 7_980_000, lastError: null }],
    history: {
      startAt,
      stepMs: MINUTE,
      series: [
        series('api', 'allowed', 340),
        series('api', 'denied', 24),
        series('login', 'allowed', 3),
        series('search', 'shadowDenied', 40),
      ],
      caps: [held('reports', 20, 14), held('uploads', 50, 5)],
    },
    timeline: timelineAt(at),
    bans: [{ id: 'scraper-9', key: 'scraper-9', policy: 'api', endsAt: at + 600_000, level: 1 }],
    events: [
      { at: at - 90_000, name: 'backend-recovered', text: 'redis answers again' },
      { at: at - 132_000, name: 'backend-failed', text: 'redis: connect ECONNREFUSED 10.0.0.5:6379' },
    ],
    controls: [],
    sources: sourcesOf(),
    unreadMessages: 0,
  }
}

/** A cap whose limit falls while the service is slow, two minutes ago, and one that is never full. */
function timelineAt(at: number): InsightSnapshot['timeline'] {
  const [stepMs, steps] = [2_000, 150]
  const series = (
    cap: string,
    measure: InsightSnapshot['timeline']['series'][number]['measure'],
    calm: number,
    slow: number,
  ) => {
    const values = Array.from({ length: steps }, (_, step) => {
      const value = step >= 60 && step < 110 ? slow : calm
      return Math.round(value * (1 + 0.15 * Math.sin(step)))
    })
    return { cap, measure, ...(measure === 'denied' && { priority: 'sheddable' as const }), values }
  }
  return {
    startAt: (Math.floor(at / stepMs) - steps + 1) * stepMs,
    stepMs,
    series: [
      series('reports', 'limit', 20, 9),
      series('reports', 'held', 12, 9),
      series('reports', 'waiting', 0, 6),
      series('reports', 'p50', 120, 800),
      series('reports', 'p99', 310, 2_100),
      series('reports', 'denied', 0, 20),
      series('uploads', 'limit', 50, 50),
      series('uploads', 'held', 6, 6),
    ],
  }
}

function policiesOf(extra: number): InsightSnapshot['policies'] {
  const key = (name: string, count: number, error = 0) => ({ id: name, key: name, count, error })
  const counts = (allowed: number, denied = 0, shadowDenied = 0) => ({ allowed, denied, shadowDenied, uncounted: 0 })
  return [
    {
      ...{ name: 'api', limit: 1_000, windowMs: MINUTE, unit: 'requests', modes: { enforce: 3, shadow: 0 } },
      ...{ total: counts(2_412_554 + extra, 31_020), perSecond: counts(340 + extra, 5) },
      nearest: { key: '203.0.113.x', usedShare: 0.97 },
      topAllowed: [key('acme…', 91_214, 310), key('203.0.113.x', 40_112, 310), key('2001:db8:1:x', 12_001, 310)],
      topDenied: [key('203.0.113.x', 2_214), key('198.51.100.x', 310)],
    },
    {
      ...{ name: 'login', limit: 5, windowMs: 15 * MINUTE, unit: 'requests', modes: { enforce: 3, shadow: 0 } },
      ...{ total: counts(21_020, 120), perSecond: counts(3.2, 0.1) },
      nearest: { key: 'eve@…', usedShare: 1 },
      topAllowed: [key('bob@…', 4)],
      topDenied: [key('eve@…', 118)],
    },
    {
      ...{ name: 'search', limit: 30, windowMs: 1_000, unit: 'units', modes: { enforce: 0, shadow: 3 } },
      ...{ total: counts(802_113, 0, 9_120), perSecond: counts(56, 0, 8) },
      nearest: { key: 'acme…', usedShare: 0.41 },
      topAllowed: [key('acme…', 20_112, 12)],
      topDenied: [],
    },
  ]
}

function explained(at: number): Omit<Explanation, 'key' | 'cost'> {
  const usage = { limit: 100_000, used: 98_000, remaining: 2_000, windowMs: MINUTE, unit: 'tokens' }
  const asked = { allowed: false, retryAfterMs: 12_000 }
  const denial = { policy: 'tokens', route: '/v1/chat', method: 'POST', isShadow: false }
  const text = "denied by 'tokens': 98,000 of 100,000 tokens used, 5,000 requested, retry in 12 s"
  return {
    at,
    summary: [text, "allowed by 'api': 12 of 1,000 requests used, full reset in 48 s"],
    policies: [
      {
        ...{ ...usage, policy: 'tokens', mode: 'enforce', backend: 'redis', perProcess: false, isOverride: false },
        ...{
          isExempt: false,
          singleUnit: { allowed: true, retryAfterMs: 0 },
          requested: asked,
          availableAfterMs: 12_000,
          text,
        },
        ...{ resetAfterMs: 12_000, isCounted: true, source: 'redis', held: [] },
      },
    ],
    controls: [],
    denials: [
      { ...denial, at: at - 3_000, times: 12 },
      { ...denial, at: at - 95_000, times: 1 },
    ],
    isWholeFleet: true,
  }
}

/** Sources like the ones of quotas, a synced backend and counters. */
function sourcesOf(): InsightSnapshot['sources'] {
  const value = (amount: number, labels: Record<string, string> = {}) => [{ labels, value: amount }]
  return [
    {
      ...{
        name: 'sluice_quota_notices_total',
        help: 'Keys that used 80, 100 or another chosen percentage of a quota.',
        type: 'counter',
      },
      samples: [
        ...value(41, { policy: 'monthly', threshold: '80' }),
        ...value(12, { policy: 'monthly', threshold: '100' }),
      ],
    },
    {
      ...{
        name: 'sluice_counters_flush_ms',
        help: 'Time of one batch write to the ledger, in milliseconds.',
        type: 'histogram',
      },
      samples: [{ labels: { counters: 'api' }, count: 18_204, mean: 3.21, p50: 5, p99: 25 }],
    },
    {
      ...{
        name: 'sluice_counters_owed_ids',
        help: 'Counters with units that the ledger does not have yet.',
        type: 'gauge',
      },
      samples: value(1_204, { counters: 'api', tier: 'memory' }),
    },
    {
      ...{ name: 'sluice_global_nodes', help: 'Processes that share the limits.', type: 'gauge' },
      samples: value(3),
    },
    {
      ...{ name: 'sluice_global_cache_bytes', help: 'Memory of the key table, in bytes.', type: 'gauge' },
      samples: value(3_145_728),
    },
    {
      ...{
        name: 'sluice_sync_failing',
        help: '1 while a topic cannot be synchronised.',
        type: 'gauge',
      },
      samples: value(0, { topic: 'sluice.insight' }),
    },
  ]
}
