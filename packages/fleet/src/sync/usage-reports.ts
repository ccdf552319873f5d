import type { Clock, CountEstimate, MemoryBackend, PriorUsage } from '@sluice/limiter-core/backend'
import { Outbox } from './outbox.ts'
import type { PendingUsage } from './pending-usage.ts'
import type { SyncExchange } from './sync-exchange.ts'
import type { ReceivedCounts, SyncAnswer, SyncBatch, SyncLedger } from './sync-ledger.ts'
import { type SyncMetrics, TIERS, tierOf } from './sync-metrics.ts'
import type { SyncTerms } from './sync-terms.ts'
import type { SyncedCounter } from './synced-counter.ts'
import type { Adopted, SyncedPolicy } from './synced-policy.ts'

/** Maximum number of keys with pending reports. */
const MAX_PENDING = 200_000
/** Maximum number of keys per tick whose usage is requested although this process takes no units of them. */
const MAX_READS = 20_000
const LONGEST_READ = 1_024
/** Fraction of the free units of a key that this process takes before its report becomes urgent. */
const URGENT_FRACTION = 0.02
/** Fleet size up to which `URGENT_FRACTION` applies. In larger fleets each process reports after fewer units. */
const URGENT_NODES = 20
/** Number of ticks after which the known usage of a key is stale. */
const STALE_TICKS = 2

/** Maximum time between two requests for a key, by tier of usage (PostHog's intervals). */
const SYNC_MS = 15_000
const ASKED_AFTER_MS = { idle: Number.POSITIVE_INFINITY, low: 4 * SYNC_MS, normal: SYNC_MS, hot: SYNC_MS / 2 } as const

export interface UsageReportsDeps {
  readonly memory: MemoryBackend
  readonly ledger: Pick<SyncLedger, 'partitions' | 'partitionOf'>
  readonly terms: SyncTerms
  readonly clock: Clock
  readonly metrics: SyncMetrics
}

/** Decides when each key is reported to the ledger, and applies the replies. */
export class UsageReports {
  readonly outbox: Outbox = new Outbox(MAX_PENDING)
  /** Number of units that were not reported because the outbox was full. */
  dropped = 0
  /** Sends the pending reports. Set after construction. */
  exchange: Pick<SyncExchange, 'wake' | 'scheduleUrgent' | 'isFree' | 'nodes'> | undefined
  readonly #deps: UsageReportsDeps
  /** Keys that were requested since `#readsFrom` without taking units. */
  readonly #reads = new Set<string>()
  #readsFrom = Number.NEGATIVE_INFINITY
  /** Number of keys in replies since the metrics were last read, by tier. */
  readonly #tiers: number[] = TIERS.map(() => 0)
  /** Time before which counts may have been lost by the ledger, for each partition. */
  readonly #lostAt: number[]

  constructor(deps: UsageReportsDeps) {
    this.#deps = deps
    this.#lostAt = new Array(deps.ledger.partitions).fill(Number.NEGATIVE_INFINITY)
  }

  /** Number of processes that are known to share the limits. */
  get nodes(): number {
    return this.#knownNodes ?? 1
  }

  get #knownNodes(): number | undefined {
    return this.#deps.terms.nodes ?? this.exchange?.nodes
  }

  /** Updates the metrics. */
  measure(): void {
    const { pending, tiers, nodes, cacheBytes } = this.#deps.metrics
    pending.set(this.outbox.size)
    cacheBytes.set(this.#deps.memory.bytes)
    nodes.set(this.nodes)
    for (const [index, tier] of TIERS.entries()) tiers.set(this.#tiers[index], tier)
    this.#tiers.fill(0)
  }

  /** Describes how the count of a key differs from the ledger's. */
  estimateOf(counter: SyncedCounter, key: string): CountEstimate {
    const now = this.#deps.clock.now()
    this.selectRow(counter, key, now)
    const policy = counter.local.compiled
    const requestedAt = policy.requestedAt(policy.row)
    const othersAgeMs = requestedAt === 0 ? undefined : Math.max(0, Math.ceil(now - requestedAt))
    return { unreported: policy.pending(policy.row), othersAgeMs }
  }

  /**
   * Applies counts of other processes that arrived since the last reply about a key. Called before each decision if the
   * ledger receives such counts.
   */
  learn(counter: SyncedCounter, key: string, received: ReceivedCounts): void {
    const now = this.#deps.clock.now()
    this.selectRow(counter, key, now)
    const policy = counter.local.compiled
    if (received.changedAt(policy.placeInLedger(policy.row)) < policy.requestedAt(policy.row)) return
    // restored usage of the key is not in the ledger yet
    if (this.outbox.find(policy.outboxPosition(policy.row), key, counter)?.known) return
    // the ledger may not have counted the units of a batch under way
    if (!this.exchange?.isFree(this.#deps.ledger.partitionOf(key))) return
    const { cells, place } = received.of({ key, counter })
    this.#adopt(counter, key, { cells, requestedAt: now, isRepeated: false, place }, now)
  }

  /** Sets `row` of the counter's policy to the row of a key. */
  selectRow(counter: SyncedCounter, key: string, now: number): void {
    const { cells, at } = this.#deps.memory.look({ key, counter: counter.local }, now)
    const { row } = counter.local.compiled
    row.cells = cells
    row.at = at
  }

  /** Handles a take from the current row of the policy, which has `remaining` units left. */
  taken(counter: SyncedCounter, key: string, cost: number, now: number, remaining: number): void {
    const policy = counter.local.compiled
    const { row } = policy
    const { hits, misses } = this.#deps.metrics
    if (policy.requestedAt(row) === 0) misses.add(1)
    else hits.add(1)
    const floor = this.#floorOf(policy)
    if (floor > 0 && policy.holdBack(row, cost, floor)) {
      // the next tick requests the units that other processes took in the meantime
      if (now - policy.requestedAt(row) > askAfterMs(policy, remaining)) this.report(counter, key, 0, now)
      return
    }
    const place = this.report(counter, key, cost, now)
    const pending = policy.pending(row)
    const fleetPending = pending * Math.max(1, this.nodes / URGENT_NODES)
    if (fleetPending >= (remaining + pending) * URGENT_FRACTION || this.#isStale(policy, now)) this.#markUrgent(place)
  }

  /** Restores usage of a key here, and in the ledger with the next report. */
  restore(counter: SyncedCounter, key: string, known: PriorUsage, now: number): void {
    const { local } = counter
    this.#deps.memory.adopt({ key, counter: local }, known, now, local.compiled.restorer)
    this.selectRow(counter, key, now)
    const place = this.report(counter, key, 0, now)
    const usage = this.outbox.find(place, key, counter)
    if (usage) usage.known = { used: known.used, resetAfterMs: known.resetAfterMs }
    this.#markUrgent(place)
  }

  /** Handles a denied take. Requests the usage if it is stale, because other processes may have refunded units. */
  denied(counter: SyncedCounter, key: string, now: number): void {
    this.selectRow(counter, key, now)
    if (this.#isStale(counter.local.compiled, now)) this.#markUrgent(this.report(counter, key, 0, now))
  }

  /**
   * Adds units of the current row of the policy to the pending reports. Returns the position in the outbox; 0 if the
   * outbox is full.
   */
  report(counter: SyncedCounter, key: string, units: number, takenAt: number): number {
    const policy = counter.local.compiled
    let place = policy.outboxPosition(policy.row)
    let usage = this.outbox.find(place, key, counter)
    let held = 0
    if (!usage) {
      place = this.outbox.add(counter, key, this.#deps.ledger.partitionOf(key))
      usage = this.outbox.find(place, key, counter)
      if (!usage) {
        this.dropped += Math.abs(units)
        this.#deps.metrics.errors.add(1, 'enqueue_update', 'pending_sync_full')
        return 0
      }
      held = policy.releaseHeldBack(policy.row, place)
      this.exchange?.wake()
    }
    if (units + held !== 0) this.outbox.count(place, units + held, takenAt, policy.spanMs)
    return place
  }

  /**
   * Handles a take of 0 units. Requests the usage if it is stale, because other processes may have taken units: for each
   * key at most once per tick, as a key without usage has no row that could store its request.
   */
  read(counter: SyncedCounter, key: string, now: number): void {
    this.selectRow(counter, key, now)
    if (!this.#isStale(counter.local.compiled, now)) return
    if (now - this.#readsFrom >= this.#deps.terms.tickMs) {
      this.#reads.clear()
      this.#readsFrom = now
    }
    const id = `${counter.name}\0${key}`
    if (id.length > LONGEST_READ || this.#reads.size >= MAX_READS || this.#reads.has(id)) return
    this.#reads.add(id)
    this.report(counter, key, 0, now)
  }

  /** Drops the pending report of a key. */
  drop(counter: SyncedCounter, key: string): void {
    this.selectRow(counter, key, this.#deps.clock.now())
    const policy = counter.local.compiled
    this.outbox.drop(policy.outboxPosition(policy.row), key, counter)
  }

  /** Called before a batch is sent: adds the known usage of its keys if the ledger may have lost it. */
  prepare({ partition, takes }: SyncBatch): void {
    const lostAt = this.#lostAt[partition]
    if (lostAt === Number.NEGATIVE_INFINITY) return
    const now = this.#deps.clock.now()
    for (const usage of takes as readonly PendingUsage[]) {
      if (usage.known && usage.known.ageMs === undefined) continue
      const counter = usage.counter as SyncedCounter
      this.selectRow(counter, usage.key, now)
      const policy = counter.local.compiled
      const { row } = policy
      const waiting = this.outbox.find(policy.outboxPosition(row), usage.key, counter)
      usage.known = policy.requestedAt(row) > lostAt ? undefined : policy.known(row, now, [usage, waiting])
    }
  }

  /** Applies the reply to a batch that was sent at `requestedAt`. */
  answered(
    { partition, takes, isRepeated = false }: SyncBatch,
    { cells, lost }: SyncAnswer,
    requestedAt: number,
  ): void {
    if (lost) {
      this.#lostAt[partition] = requestedAt
      return
    }
    const now = this.#deps.clock.now()
    for (const [index, { key, counter }] of takes.entries()) {
      const answer = cells[index]
      if (answer instanceof Error) this.#deps.metrics.errors.add(1, 'pipeline', 'key')
      else this.#adopt(counter as SyncedCounter, key, { cells: answer, requestedAt, isRepeated }, now)
    }
  }

  #adopt(counter: SyncedCounter, key: string, answer: Omit<Adopted, 'unreported'>, now: number): void {
    const { cells } = answer
    const { memory, metrics } = this.#deps
    const { local } = counter
    const { compiled: policy } = local
    this.selectRow(counter, key, now)
    const before = policy.pressure(policy.row, now)
    const knownAt = policy.requestedAt(policy.row)
    const unreported = (place: number): PendingUsage | undefined => this.outbox.find(place, key, counter)
    const isUsed = cells.some((cell) => cell !== 0)
    const known = { used: isUsed ? 1 : 0, resetAfterMs: 1 }
    memory.adopt({ key, counter: local }, known, now, policy.adopterOf({ ...answer, unreported }))
    this.selectRow(counter, key, now)
    const after = policy.pressure(policy.row, now)
    metrics.drift.observe(Math.abs(after - before))
    if (knownAt > 0) metrics.stalenessMs.observe(Math.max(0, now - knownAt))
    if (tierOf(before) !== tierOf(after)) metrics.transitions.add(1, tierOf(before), tierOf(after))
    this.#tiers[TIERS.indexOf(tierOf(after))]++
  }

  #markUrgent(place: number): void {
    if (place === 0) return
    this.#deps.metrics.queued.add(1)
    this.outbox.markUrgent(place)
    this.exchange?.scheduleUrgent()
  }

  #isStale(policy: SyncedPolicy, now: number): boolean {
    const requestedAt = policy.requestedAt(policy.row)
    return requestedAt === 0 || now - requestedAt > STALE_TICKS * this.#deps.terms.tickMs
  }

  /**
   * Returns the units per key that this process may hold back: all processes together at most 1 % of a limit. None
   * before the number of processes is known.
   */
  #floorOf(policy: SyncedPolicy): number {
    const nodes = this.#knownNodes
    if (nodes === undefined) return 0
    if (policy.floorNodes !== nodes) {
      policy.floorNodes = nodes
      policy.floor = Math.floor(Math.min(this.#deps.terms.floor, policy.policy.limit / 100 / nodes))
    }
    return policy.floor
  }
}

/** Returns how long the known usage of a rarely used key stays valid, in ms: the more units are used, the shorter. */
function askAfterMs({ capacity, policy: { windowMs } }: SyncedPolicy, remaining: number): number {
  const pressure = 1 - remaining / capacity
  // half of the time until all units are used, if the window continues at its average rate so far
  return Math.min(ASKED_AFTER_MS[tierOf(pressure)], (windowMs * (1 - pressure)) / pressure / 2)
}
