import { hash } from 'node:crypto'
import { PARTITIONS, partitionOf } from '@sluice/fleet/backend'
import { CounterMetric } from '@sluice/fleet/metrics'
import type { ReceivedCounts, ReportedTakes, SyncAnswer, SyncBatch, SyncLedger } from '@sluice/fleet/sync'
import type { Metric, MetricSource } from '@sluice/limiter-core'
import { type CompiledPolicy, type CountedKey, repeatEvery } from '@sluice/limiter-core/backend'
import type { LogItem } from '../log/replica-log.ts'
import type { GossipNode } from '../node/gossip-node.ts'
import type { GossipTopic } from '../node/gossip-topics.ts'
import { FleetTime } from './fleet-time.ts'
import { type SlotPolicy, slotPolicies } from './slot-cells.ts'
import { usageOf, usageValue } from './usage-item.ts'
import { UsageTable } from './usage-table.ts'

const KIND = 'limit'
/** Key of the item by which replicas count each other and agree on a fleet time. */
const TIME_KEY = `${KIND}:time`
const TIME_MS = 2_000
/** A replica whose last time item is older than this is considered gone. */
const GONE_MS = 10_000
/** Maximum number of other replicas that are tracked; more than a fleet should have. */
const MAX_REPLICAS = 10_000
/** Number of places by which keys with new counts are found: 512 KiB of times. */
const PLACES = 2 ** 16
const KEY = /^limit:[\w-]{22}$/

/**
 * Sync ledger over gossip: the units that all replicas took of each key. Each replica writes its own units by time
 * slot, with one log item per key. A later item replaces the earlier one, so lost, repeated or reordered messages never
 * count a unit twice. `exchange` makes no network call; it returns what this process knows.
 */
export class GossipLedger implements SyncLedger, GossipTopic, MetricSource {
  readonly partitions: number = PARTITIONS
  readonly #node: GossipNode
  readonly #time: FleetTime
  readonly #table: UsageTable
  readonly #policies = new WeakMap<CompiledPolicy, readonly SlotPolicy[]>()
  /** Number of the last counted batch, by partition. A repeated batch is not counted again. */
  readonly #numbers: number[] = new Array(PARTITIONS).fill(0)
  /** When the last units of another replica arrived, by place of their key. */
  readonly #changedAt = new Float64Array(PLACES + 1).fill(Number.NEGATIVE_INFINITY)
  readonly arrived: ReceivedCounts = {
    of: (counted) => this.#receivedOf(counted),
    changedAt: (place) => (place === 0 ? Number.POSITIVE_INFINITY : this.#changedAt[place]),
  }
  /** When the last known time item of each other replica was written. */
  readonly #seenAt = new Map<string, number>()
  readonly #unshared = new CounterMetric({
    name: 'sluice_gossip_limit_unshared_total',
    help: 'Keys no longer shared with other replicas, dropped to make room for another key.',
  })
  readonly #refused = new CounterMetric({
    name: 'sluice_gossip_limit_refused_total',
    help: 'Items of other replicas that are not counted: malformed, or beyond the number of keys kept in memory.',
  })
  readonly #stop: () => void

  constructor(node: GossipNode, maxKeys: number) {
    const { clock } = node
    node.attach(KIND, this)
    this.#node = node
    this.#time = new FleetTime(clock.now())
    this.#table = new UsageTable(maxKeys)
    this.#stop = repeatEvery(clock, TIME_MS, () => this.#tick())
    this.#writeTime()
  }

  partitionOf(key: string): number {
    return partitionOf(key, PARTITIONS)
  }

  async exchange({ partition, number, takes }: SyncBatch): Promise<SyncAnswer> {
    const isNew = number > this.#numbers[partition]
    if (isNew) this.#numbers[partition] = number
    return { cells: takes.map((reported) => this.#count(reported, isNew)), lost: false }
  }

  async resetAll(keys: readonly CountedKey[]): Promise<void> {
    for (const { key, counter } of keys) {
      const id = idOf(key, counter.name)
      const usage = this.#table.own(id)
      const now = this.#node.clock.now()
      usage.take(this.#policiesOf(counter.compiled), [], this.#time, now)
      usage.resetHere(now)
      this.#share(id)
    }
  }

  async nodes(): Promise<number> {
    return 1 + this.#seenAt.size
  }

  close(): void {
    this.#stop()
  }

  *metrics(): Iterable<Metric> {
    const { ownKeys, sharedKeys, keysOfOthers } = this.#table
    const samples = Object.entries({ own: ownKeys, shared: sharedKeys, others: keysOfOthers }).map(([of, value]) => ({
      labels: { of },
      value,
    }))
    const help = 'Keys with known usage: used by this process, shared with other replicas, received from others.'
    yield { name: 'sluice_gossip_limit_keys', help, type: 'gauge', samples }
    yield* this.#unshared.metrics()
    yield* this.#refused.metrics()
  }

  /** Called by the node. */
  received(replica: string, { key, value, bornAt }: LogItem): boolean {
    if (key === TIME_KEY) this.#receivedTime(replica, value, bornAt)
    else if (!this.#receivedUsage(replica, key, value, bornAt)) this.#refused.add(1)
    return true
  }

  /** Called by the node. Missed items need no action: later items replace them, or they no longer count. */
  missed(): void {}

  /** Called by the node. */
  isOld({ key, bornAt }: LogItem, replica: string): boolean {
    const ageMs = this.#node.clock.now() - bornAt
    if (key === TIME_KEY) return ageMs > GONE_MS
    const id = key.slice(KIND.length + 1)
    const usage = this.#table.get(id)
    if (replica === this.#node.replica) return !this.#table.isShared(id) || ageMs > (usage?.keptMs ?? 0)
    const known = usage?.others.get(replica)
    if (known && ageMs <= known.keptMs) return false
    this.#table.forgetOther(id, replica)
    return true
  }

  #count({ key, counter, takes }: ReportedTakes, isNew: boolean): number[] {
    const { compiled } = counter
    const now = this.#node.clock.now()
    const id = idOf(key, counter.name)
    if (isNew && takes.length > 0) {
      this.#table.own(id).take(this.#policiesOf(compiled), takes, this.#time, now)
      this.#share(id)
    }
    return this.#cellsOf(id, compiled)
  }

  #receivedOf({ key, counter: { compiled, name } }: CountedKey): { cells: number[]; place: number } {
    const id = idOf(key, name)
    return { cells: this.#cellsOf(id, compiled), place: placeOf(id) }
  }

  #cellsOf(id: string, compiled: CompiledPolicy): number[] {
    const cells = this.#table.get(id)?.cells(compiled, this.#policiesOf(compiled), this.#time, this.#node.clock.now())
    return cells ?? new Array<number>(compiled.cells).fill(0)
  }

  #share(id: string): void {
    const usage = this.#table.get(id)
    if (!usage) return
    if (this.#table.share(id)) this.#unshared.add(1)
    this.#node.write(`${KIND}:${id}`, usageValue(usage.usage(), this.#node.clock.now()))
  }

  #receivedUsage(replica: string, key: string, value: unknown, bornAt: number): boolean {
    const received = KEY.test(key) ? usageOf(value, bornAt) : undefined
    if (!received) return false
    const id = key.slice(KIND.length + 1)
    const usage = this.#table.putOther(id, replica, received)
    this.#changedAt[placeOf(id)] = this.#node.clock.now()
    // units that this process took before the reset no longer count, so the shared item must be written again
    if (usage?.reset(received.resetAt, this.#node.clock.now()) && this.#table.isShared(id)) this.#share(id)
    return usage !== undefined
  }

  #receivedTime(replica: string, value: unknown, bornAt: number): void {
    const isOld = this.#node.clock.now() - bornAt > GONE_MS
    const isRoom = this.#seenAt.has(replica) || this.#seenAt.size < MAX_REPLICAS
    if (!Number.isSafeInteger(value) || (value as number) < 0 || isOld || !isRoom) {
      this.#refused.add(isOld ? 0 : 1)
      return
    }
    this.#time.synchronize(value as number, bornAt)
    this.#seenAt.set(replica, bornAt)
  }

  #tick(): void {
    const now = this.#node.clock.now()
    for (const [replica, at] of this.#seenAt) if (now - at > GONE_MS) this.#seenAt.delete(replica)
    this.#table.forgetOld(now)
    this.#writeTime()
  }

  #writeTime(): void {
    this.#node.write(TIME_KEY, Math.floor(this.#time.at(this.#node.clock.now())))
  }

  #policiesOf(compiled: CompiledPolicy): readonly SlotPolicy[] {
    const known = this.#policies.get(compiled)
    if (known) return known
    const made = slotPolicies(compiled)
    this.#policies.set(compiled, made)
    return made
  }
}

/** Returns a 132-bit hash: collisions are negligible, and messages do not contain the key. */
function idOf(key: string, counterName: string): string {
  return hash('sha256', `${counterName}\0${key}`, 'base64url').slice(0, 22)
}

function placeOf(id: string): number {
  return 1 + partitionOf(id, PLACES)
}
