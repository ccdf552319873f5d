import type { Clock } from '../contracts.ts'
import type { MemoryBackend } from '../memory/memory-backend.ts'
import { Outbox } from './outbox.ts'
import type { PendingUsage } from './pending-usage.ts'
import type { SyncExchange } from './sync-exchange.ts'
import type { SyncAnswer, SyncBatch, SyncLedger } from './sync-ledger.ts'
import { type SyncMetrics, TIERS, tierOf } from './sync-metrics.ts'
import type { SyncTerms } from './sync-terms.ts'
import type { SyncedCounter } from './synced-counter.ts'
import type { SyncedPolicy } from './synced-policy.ts'

/** Keys that wait to be reported. */
const MOST_PENDING = 200_000
/** Of what was free of a key: who has spent so much of it since it was asked for asks again. */
const EARLY_PART = 0.02
/** So many processes may spend their early parts together; each of more spends less before it asks. */
const EARLY_NODES = 20
/** Ticks after which what is known of a key is asked for anew. */
const STALE_TICKS = 2

/** How often a key is asked for at least, by how much of it is used (PostHog's cadence). */
const SYNC_MS = 15_000
const ASKED_AFTER_MS = { idle: Number.POSITIVE_INFINITY, low: 4 * SYNC_MS, normal: SYNC_MS, hot: SYNC_MS / 2 } as const

export interface UsageReportsDeps {
  readonly memory: MemoryBackend
  readonly ledger: Pick<SyncLedger, 'partitions' | 'partitionOf'>
  readonly terms: SyncTerms
  readonly clock: Clock
  readonly metrics: SyncMetrics
}

/** What this process took and the ledger is to hear of: when each key is reported, and what is made of the answer. */
export class UsageReports {
  readonly outbox: Outbox = new Outbox(MOST_PENDING)
  /** Units that found no place to wait in. */
  dropped = 0
  /** Sends what waits. */
  exchange: Pick<SyncExchange, 'wake' | 'soon' | 'nodes'> | undefined
  readonly #deps: UsageReportsDeps
  /** Keys of the answers since the metrics were last read, by tier. */
  readonly #tiers: number[] = TIERS.map(() => 0)
  /** By partition: what was asked for until then the ledger may have lost. */
  readonly #lostAt: number[]

  constructor(deps: UsageReportsDeps) {
    this.#deps = deps
    this.#lostAt = new Array(deps.ledger.partitions).fill(Number.NEGATIVE_INFINITY)
  }

  /** How many processes share the limits, as far as is known. */
  get nodes(): number {
    return this.#deps.terms.nodes ?? this.exchange?.nodes ?? 1
  }

  /** Tells the metrics what is so now. */
  measure(): void {
    const { pending, tiers, nodes, cacheBytes } = this.#deps.metrics
    pending.set(this.outbox.size)
    cacheBytes.set(this.#deps.memory.bytes)
    nodes.set(this.nodes)
    for (const [index, tier] of TIERS.entries()) tiers.set(this.#tiers[index], tier)
    this.#tiers.fill(0)
  }

  /** Points the policy of a counter at the row of a key. */
  aim(counter: SyncedCounter, key: string, now: number): void {
    const { cells, at } = this.#deps.memory.look({ key, counter: counter.local }, now)
    const { row } = counter.local.compiled
    row.cells = cells
    row.at = at
  }

  /** Units were taken of the row that the policy points at, of which so many are left. */
  taken(counter: SyncedCounter, key: string, cost: number, now: number, remaining: number): void {
    const policy = counter.local.compiled
    const { row } = policy
    const { hits, misses } = this.#deps.metrics
    if (policy.askedAt(row) === 0) misses.add(1)
    else hits.add(1)
    const floor = this.#floorOf(policy)
    if (floor > 0 && policy.hold(row, cost, floor)) {
      // what others took of it meanwhile is asked for at the next tick
      if (now - policy.askedAt(row) > askAfterMs(policy, remaining)) this.report(counter, key, 0, now)
      return
    }
    const place = this.report(counter, key, cost, now)
    const pending = policy.pending(row)
    const fleetPending = pending * Math.max(1, this.nodes / EARLY_NODES)
    if (fleetPending >= (remaining + pending) * EARLY_PART || this.#isStale(policy, now)) this.#markUrgent(place)
  }

  /** A take did not fit. Others may have given units back since the key was last asked for. */
  denied(counter: SyncedCounter, key: string, now: number): void {
    this.aim(counter, key, now)
    if (this.#isStale(counter.local.compiled, now)) this.#markUrgent(this.report(counter, key, 0, now))
  }

  /** Adds units of the row that the policy points at to what waits; answers its place, 0 where there is no room. */
  report(counter: SyncedCounter, key: string, units: number, takenAt: number): number {
    const policy = counter.local.compiled
    let place = policy.place(policy.row)
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
      held = policy.handOver(policy.row, place)
      this.exchange?.wake()
    }
    if (units + held !== 0) this.outbox.count(place, units + held, takenAt, policy.spanMs)
    return place
  }

  /** Forgets what waits of a key. */
  drop(counter: SyncedCounter, key: string): void {
    this.aim(counter, key, this.#deps.clock.now())
    const policy = counter.local.compiled
    this.outbox.drop(policy.place(policy.row), key, counter)
  }

  /** Before each sending of a batch: what is known of its keys goes along where the ledger may have lost it. */
  prepare({ partition, takes }: SyncBatch): void {
    const lostAt = this.#lostAt[partition]
    if (lostAt === Number.NEGATIVE_INFINITY) return
    const now = this.#deps.clock.now()
    for (const usage of takes as readonly PendingUsage[]) {
      const counter = usage.counter as SyncedCounter
      this.aim(counter, usage.key, now)
      const policy = counter.local.compiled
      const { row } = policy
      const waiting = this.outbox.find(policy.place(row), usage.key, counter)
      usage.known = policy.askedAt(row) > lostAt ? undefined : policy.known(row, now, [usage, waiting])
    }
  }

  /** Adopts what the ledger answered to a batch that was sent at `askedAt`. */
  answered({ partition, takes }: SyncBatch, { cells, lost }: SyncAnswer, askedAt: number): void {
    if (lost) {
      this.#lostAt[partition] = askedAt
      return
    }
    const now = this.#deps.clock.now()
    for (const [index, { key, counter }] of takes.entries()) {
      const answer = cells[index]
      if (answer instanceof Error) this.#deps.metrics.errors.add(1, 'pipeline', 'key')
      else this.#adopt(counter as SyncedCounter, key, answer, askedAt, now)
    }
  }

  #adopt(counter: SyncedCounter, key: string, cells: readonly number[], askedAt: number, now: number): void {
    const { memory, metrics } = this.#deps
    const { local } = counter
    const { compiled: policy } = local
    this.aim(counter, key, now)
    const before = policy.pressure(policy.row, now)
    const knownAt = policy.askedAt(policy.row)
    const unreported = (place: number): PendingUsage | undefined => this.outbox.find(place, key, counter)
    const isUsed = cells.some((cell) => cell !== 0)
    const known = { used: isUsed ? 1 : 0, resetAfterMs: 1 }
    memory.adopt({ key, counter: local }, known, now, policy.adopterOf({ cells, askedAt, unreported }))
    this.aim(counter, key, now)
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
    this.exchange?.soon()
  }

  #isStale(policy: SyncedPolicy, now: number): boolean {
    const askedAt = policy.askedAt(policy.row)
    return askedAt === 0 || now - askedAt > STALE_TICKS * this.#deps.terms.tickMs
  }

  /** Units of a key that this process may keep to itself: all of them together keep 1 % of a limit. */
  #floorOf(policy: SyncedPolicy): number {
    const { nodes } = this
    if (policy.floorNodes !== nodes) {
      policy.floorNodes = nodes
      policy.floor = Math.floor(Math.min(this.#deps.terms.floor, policy.policy.limit / 100 / nodes))
    }
    return policy.floor
  }
}

/** For how long what is known of a key that this process hardly uses holds: the fuller it is, the shorter. */
function askAfterMs({ capacity, policy: { windowMs } }: SyncedPolicy, remaining: number): number {
  const pressure = 1 - remaining / capacity
  // at the pace of the window so far, half of the time until it is full
  return Math.min(ASKED_AFTER_MS[tierOf(pressure)], (windowMs * (1 - pressure)) / pressure / 2)
}
