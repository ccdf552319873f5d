import { AmountCounters, byBytes, checkId, checkPrefix, listPage, tokenOf } from '@sluice/counters/backend'
import type {
  BatchReceipt,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
import type { Metric, MetricSource, ValueSample } from '@sluice/limiter-core'
import {
  badOption,
  type Duration,
  integerFrom,
  optionsOf,
  parseMs,
  parseTimerMs,
  SluiceError,
  shown,
} from '@sluice/limiter-core/backend'
import { checkNode, type GossipNode } from '../node/gossip-node.ts'
import { ReplicaCounts } from './replica-counts.ts'

export interface GossipCountersOptions {
  /**
   * Time without a report after which a replica is considered gone and its entries are taken over. Default: 1 min; 1 s
   * to 1 h.
   */
  readonly deadAfterMs?: Duration | undefined
  /** Timeout of `minReplicas`. Default: 5 s. */
  readonly waitMs?: Duration | undefined
  /**
   * Maximum number of ids, up to 10,000,000; another new id is rejected with `SLUICE_COUNTERS_FULL`. Default: 100,000.
   */
  readonly maxIds?: number | undefined
}

export interface GossipIncrementOptions extends IncrementOptions {
  /**
   * Number of replicas, including this one, that must hold the increment before the promise resolves: 1 to 100.
   * Default: 1.
   */
  readonly minReplicas?: number | undefined
}

/** Counters that replicas keep in memory and share over gossip. */
export interface GossipCounters extends Counters, MetricSource {
  increment(id: string, delta?: number, options?: GossipIncrementOptions): Promise<CounterReceipt>
  incrementMany(
    deltas: Parameters<Counters['incrementMany']>[0],
    options?: GossipIncrementOptions,
  ): Promise<BatchReceipt>
  /** Returns how many replicas have an entry of `id`, as far as this replica knows: about as many as are live. */
  entriesOf(id: string): number
}

const OPTIONS = ['deadAfterMs', 'waitMs', 'maxIds'] as const
const INCREMENT_OPTIONS = ['token', 'durable', 'minReplicas'] as const
const MIN_GONE_MS = 1_000
const MAX_GONE_MS = 3_600_000
const MAX_IDS = 10_000_000

/**
 * Creates counters that need no server: each replica counts in memory, and all have the sum about a second later. The
 * other replicas keep what a replica counted after it ends: everything that it had sent, which takes up to one tick,
 * and with `minReplicas: 2` every acknowledged unit. A node supports one instance; use it on all nodes of a fleet or on
 * none.
 *
 * Idempotency tokens are rejected with `SLUICE_BAD_OPTION`: deduplication needs a single authority. `durable: true`
 * waits for all other replicas that reply; receipts never have `durable: true`, because all counts are in memory. A
 * reset removes what was counted before it, and what other replicas count until it reaches them. Throws
 * `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function gossipCounters(node: GossipNode, options: GossipCountersOptions = {}): GossipCounters {
  checkNode('gossipCounters: node', node)
  const { deadAfterMs = 60_000, waitMs = 5_000, maxIds = 100_000 } = optionsOf('gossipCounters', options, OPTIONS)
  const gone = parseTimerMs(deadAfterMs, 'gossipCounters: deadAfterMs')
  if (gone < MIN_GONE_MS || gone > MAX_GONE_MS)
    throw badOption('gossipCounters: deadAfterMs', deadAfterMs, 'a duration from 1 s to 1 h')
  return new ReplicatedCounters(node, {
    deadAfterMs: gone,
    waitMs: parseTimerMs(waitMs, 'gossipCounters: waitMs'),
    maxIds: integerFrom('gossipCounters: maxIds', maxIds, 1, MAX_IDS),
  })
}

interface CountersBounds {
  readonly deadAfterMs: number
  readonly waitMs: number
  readonly maxIds: number
}

class ReplicatedCounters extends AmountCounters implements GossipCounters {
  readonly #node: GossipNode
  readonly #bounds: CountersBounds
  readonly #counts: ReplicaCounts
  #requestedAt = Number.NEGATIVE_INFINITY
  #closing: Promise<void> | undefined

  constructor(node: GossipNode, bounds: CountersBounds) {
    super()
    this.#node = node
    this.#bounds = bounds
    this.#counts = new ReplicaCounts(node, bounds.deadAfterMs)
  }

  override async count(amounts: ReadonlyMap<string, number>, options: GossipIncrementOptions): Promise<BatchReceipt> {
    const { token, durable = false, minReplicas = 1 } = optionsOf('increment', options, INCREMENT_OPTIONS)
    if (typeof durable !== 'boolean') throw badOption('increment: durable', durable, 'true or false')
    if (token !== undefined) throw noToken(token, amounts)
    const others = integerFrom('increment: minReplicas', minReplicas, 1, 100) - 1
    this.#checkOpen()
    this.#checkRoom(amounts)
    const { entries } = this.#counts
    for (const [id, delta] of amounts) {
      this.#counts.count(id, { epoch: entries.epochOf(id), units: BigInt(delta), isDeleted: false })
    }
    const values = new Map(Array.from(amounts.keys(), (id) => [id, entries.valueOf(id)]))
    if (durable) await this.#askAll()
    if (others > 0) await this.#held(others)
    return { values, durable: false, counted: true }
  }

  entriesOf(id: string): number {
    checkId(id)
    return this.#counts.entries.entriesOf(id)
  }

  *metrics(): Iterable<Metric> {
    const { entries, replicas } = this.#counts
    const gauge = (name: string, help: string, samples: readonly ValueSample[]): Metric => {
      return { name: `sluice_gossip_counter_${name}`, help, type: 'gauge', samples }
    }
    const help = 'Counting replicas, by state: live, dead (no recent report), folded (taken over recently).'
    const states = Object.entries(replicas).map(([state, value]) => ({ labels: { state }, value }))
    yield gauge('replicas', help, states)
    yield gauge('ids', 'Counter ids kept in memory.', [{ labels: {}, value: entries.size }])
    const each = 'Entries of these ids: one for each replica that counted an id.'
    yield gauge('entries', each, [{ labels: {}, value: entries.entries }])
  }

  async read(id: string, options: ReadOptions = {}): Promise<CounterReading> {
    checkId(id)
    const { maxAgeMs } = optionsOf('read', options, ['maxAgeMs'])
    this.#checkOpen()
    if (maxAgeMs !== undefined) {
      const ageMs = parseMs(maxAgeMs, 'read: maxAgeMs')
      if (this.#node.clock.now() - this.#requestedAt >= ageMs) await this.#askAll()
    }
    return this.#reading(id)
  }

  async readMany(prefix: string, options: ReadManyOptions = {}): Promise<readonly CounterReading[]> {
    const { after, limit } = listPage(prefix, options)
    this.#checkOpen()
    const ids = [...this.#counts.entries.idsFrom(prefix)].filter((id) => after === undefined || byBytes(after, id) < 0)
    return ids
      .sort(byBytes)
      .slice(0, limit)
      .map((id) => this.#reading(id))
  }

  async aggregate(prefix: string, kind = 'sum'): Promise<number> {
    checkPrefix(prefix)
    if (kind !== 'sum') throw badOption('aggregate: kind', kind, "'sum'")
    this.#checkOpen()
    return this.#counts.entries.sum(prefix)
  }

  protected async clear(id: string, deleted: boolean): Promise<void> {
    this.#checkOpen()
    await this.#askAll()
    // what is counted after the last exchange reaches no other replica
    this.#checkOpen()
    const { entries } = this.#counts
    if (!entries.has(id)) return
    const isDeleted = deleted || !entries.isListed(id)
    this.#counts.count(id, { epoch: entries.epochOf(id) + 1, units: 0n, isDeleted })
    await this.#askAll()
  }

  async flush(): Promise<void> {
    this.#checkOpen()
    await this.#sendToOne()
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    this.#counts.close()
    await this.#sendToOne()
  }

  async #sendToOne(): Promise<void> {
    if (!(await this.#node.exchangeWithOne())) await this.#askAll()
  }

  /** Exchanges with all peers. Rejects if there are other replicas and none of them replies. */
  async #askAll(): Promise<void> {
    const requestedAt = this.#node.clock.now()
    const { answered, asked } = await this.#node.exchangeWithAll()
    if (asked > 0 && answered === 0) throw unheld('no other replica replied')
    this.#requestedAt = requestedAt
  }

  async #held(others: number): Promise<void> {
    const { waitMs } = this.#bounds
    if (await this.#counts.whenReplicated(others, waitMs)) return
    throw unheld(`${others + 1} replicas did not confirm the increment within ${waitMs} ms`)
  }

  #reading(id: string): CounterReading {
    const { entries } = this.#counts
    const { version = 0, updatedAt } = entries.sumOf(id) ?? {}
    return { id, value: entries.valueOf(id), version, updatedAt }
  }

  /** Throws if a value would leave its range or there are too many ids; then nothing is counted. */
  #checkRoom(amounts: ReadonlyMap<string, number>): void {
    const { entries } = this.#counts
    let news = 0
    for (const [id, delta] of amounts) {
      if (!entries.has(id)) news++
      const value = entries.valueOf(id)
      if (Number.isSafeInteger(value + delta)) continue
      const message = `delta: expected a value within ±(2^53 - 1), received ${shown(delta)} for a value of ${value}`
      throw new SluiceError('SLUICE_COUNTER_RANGE', message)
    }
    if (news === 0 || entries.size + news <= this.#bounds.maxIds) return
    throw new SluiceError(
      'SLUICE_COUNTERS_FULL',
      `increment: more than ${this.#bounds.maxIds} ids; delete unused ids or raise maxIds`,
    )
  }

  #checkOpen(): void {
    if (this.#closing !== undefined)
      throw new SluiceError('SLUICE_COUNTERS_CLOSED', 'counters of this replica are closed')
  }
}

/** Returns the error for a token. Throws `SLUICE_BAD_TOKEN` for an invalid token. */
function noToken(token: unknown, amounts: ReadonlyMap<string, number>): SluiceError {
  tokenOf(token, amounts)
  return badOption(
    'increment: token',
    token,
    'no token, because deduplication needs a ledger such as that of createCounters',
  )
}

function unheld(reason: string): SluiceError {
  return new SluiceError(
    'SLUICE_COUNTERS_NOT_REPLICATED',
    `gossip: ${reason}; this replica keeps its counts and sends them later`,
  )
}
