import type {
  BatchReceipt,
  CounterReading,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
import type { Metrics } from '@sluice/fleet/metrics'
import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import { messageOf, type Observers, optionsOf, parseMs, repeatEvery, SluiceError } from '@sluice/limiter-core/backend'
import { AmountCounters } from '../amount-counters.ts'
import type { BufferedCounters } from '../buffer/buffered-counters.ts'
import { checkId } from '../counter-id.ts'
import { namedMetrics } from '../metrics/named-metrics.ts'
import { unavailableError, withTimeout } from '../unavailable.ts'
import { OwedInRedis } from './owed-in-redis.ts'
import type { CountResult, RedisPartition } from './redis-partition.ts'
import type { RedisPartitions } from './redis-partitions.ts'

export interface PartitionedCountersOptions {
  readonly name: string
  readonly clock: Clock
  readonly observers: Observers
  readonly flushMs: number
  readonly waitMs: number
  readonly partitions: RedisPartitions
  /** Writes directly to the ledger: durable increments, tokens, and batches that span partitions. */
  readonly direct: BufferedCounters
}

/** Counters kept in Redis, shared by all processes and written to a ledger in batches. */
export class PartitionedCounters extends AmountCounters implements MetricSource {
  readonly #options: PartitionedCountersOptions
  readonly #stops: readonly (() => void)[]
  readonly #owed: OwedInRedis
  readonly #own: Metrics
  #closing: Promise<void> | undefined

  constructor(options: PartitionedCountersOptions) {
    super()
    this.#options = options
    this.#owed = new OwedInRedis(() => options.partitions.owed(), options.clock)
    this.#own = namedMetrics(options.name, [this.#owed])
    // spread over the interval: hand-overs of all partitions at once would delay increments
    const handOvers = Array.from(options.partitions, (partition) => () => this.#handOver(partition))
    this.#stops = [...handOvers, () => this.#refreshOwed()].map((run) =>
      repeatEvery(options.clock, options.flushMs, run),
    )
  }

  *metrics(): Iterable<Metric> {
    yield* this.#own.metrics()
    yield* this.#options.direct.metrics()
  }

  async read(id: string, options: ReadOptions = {}): Promise<CounterReading> {
    checkId(id)
    const { maxAgeMs } = optionsOf('read', options, ['maxAgeMs'])
    this.#checkOpen()
    const partition = this.#options.partitions.of(id)
    if (maxAgeMs !== undefined && parseMs(maxAgeMs, 'read: maxAgeMs') === 0) await partition.refresh([id])
    const { readings } = await partition.count(new Map([[id, 0]]))
    return readings.get(id) ?? { id, value: 0, version: 0, updatedAt: undefined }
  }

  async readMany(prefix: string, options: ReadManyOptions = {}): Promise<readonly CounterReading[]> {
    await this.flush()
    return this.#options.direct.readMany(prefix, options)
  }

  async aggregate(prefix: string, kind: 'sum' = 'sum'): Promise<number> {
    await this.flush()
    return this.#options.direct.aggregate(prefix, kind)
  }

  async flush(): Promise<void> {
    this.#checkOpen()
    await this.#options.partitions.flush()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async count(amounts: ReadonlyMap<string, number>, options: IncrementOptions): Promise<BatchReceipt> {
    const { token, durable = false } = optionsOf('increment', options, ['token', 'durable'])
    this.#checkOpen()
    const partitions = new Set(Array.from(amounts.keys(), (id) => this.#options.partitions.of(id)))
    if (token !== undefined || durable || partitions.size > 1) return this.#countDirectly(amounts, options)
    const [partition] = partitions
    if (!partition) return { values: new Map(), durable: false, counted: true }
    return receiptOf(await partition.count(amounts))
  }

  async #countDirectly(amounts: ReadonlyMap<string, number>, options: IncrementOptions): Promise<BatchReceipt> {
    const { partitions, direct, clock, waitMs } = this.#options
    const endsAt = clock.now() + waitMs
    const ids = [...amounts.keys()]
    // the ledger does not include units pending in Redis, so check the range against Redis; if Redis does not reply
    // within half of the time, the ledger alone decides
    for (const [id, { value }] of await this.#before(endsAt - waitMs / 2, partitions.read(ids)).catch(() => [])) {
      if (!Number.isSafeInteger(value + (amounts.get(id) ?? 0))) throw rangeError()
    }
    const receipt = await direct.count(amounts, { ...options, durable: true }, endsAt)
    const refreshed = partitions.refresh(ids).then(() => partitions.read(ids))
    // the increment is counted, so a Redis failure must not reject it
    return { ...receipt, values: await this.#before(endsAt, refreshed).then(valuesOf, () => receipt.values) }
  }

  #before<T>(endsAt: number, answer: Promise<T>): Promise<T> {
    const { clock, waitMs } = this.#options
    const late = (): Error => unavailableError(`increment: Redis did not reply within ${waitMs} ms`)
    return withTimeout(answer, { clock, waitMs: endsAt - clock.now(), late })
  }

  protected async clear(id: string, deleted: boolean): Promise<void> {
    this.#checkOpen()
    await this.#options.partitions.of(id).clear(id, { deleted })
  }

  async #close(): Promise<void> {
    for (const stop of this.#stops) stop()
    const ended = await Promise.allSettled([this.#options.partitions.flush(), this.#options.direct.close()])
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  #handOver(partition: RedisPartition): void {
    partition.handOver().catch((error: unknown) => this.#failed(error))
  }

  #refreshOwed(): void {
    this.#owed.refresh().catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    const { name, observers } = this.#options
    observers.event('backendFailed', { backend: 'counters', name, reason: messageOf(error) })
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return
    throw new SluiceError('SLUICE_COUNTERS_CLOSED', `counters '${this.#options.name}' are closed`)
  }
}

function receiptOf({ outcome, readings }: CountResult): BatchReceipt {
  if (outcome === 'counted') return { values: valuesOf(readings), durable: false, counted: true }
  if (outcome === 'range') throw rangeError()
  throw new SluiceError(
    'SLUICE_COUNTERS_FULL',
    'increment: expected at most maxWaiting ids that wait for the ledger, received more',
  )
}

function valuesOf(readings: ReadonlyMap<string, CounterReading>): ReadonlyMap<string, number> {
  return new Map(Array.from(readings, ([id, { value }]) => [id, value]))
}

function rangeError(): SluiceError {
  const message = 'delta: expected a value within ±(2^53 - 1), received a delta that would leave that range'
  return new SluiceError('SLUICE_COUNTER_RANGE', message)
}
