import type {
  BatchReceipt,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
import { CounterMetric, HistogramMetric, type Metrics } from '@sluice/fleet/metrics'
import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, clockOf, integerFrom, optionsOf } from '@sluice/limiter-core/backend'
import { codeOf } from './metrics/code-of.ts'
import { type HotId, HotIds } from './metrics/hot-ids.ts'
import { namedMetrics } from './metrics/named-metrics.ts'
import { BUCKETS_MS } from './metrics/time-buckets.ts'

export interface MeteredCountersOptions {
  /** Value of the label `counters`. Default: `default`. */
  readonly name?: string | undefined
  /** Increments per second from which an id is hot, 1 to 1,000,000. Default: 1,000. */
  readonly hotPerSecond?: number | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** `Counters` that report metrics and detect hot ids. */
export interface MeteredCounters extends Counters, MetricSource {
  /** Returns at most 100 ids with `hotPerSecond` or more increments in the last full second, the hottest first. */
  hotIds(): readonly HotId[]
}

/**
 * Wraps counters of any tier or kind and measures their calls, for `prometheusText`. No id becomes a label value.
 *
 * - `sluice_counters_calls_total{operation, result}`: calls. `result` is `ok`, `duplicate` for a token that was already
 *   counted, or the error code.
 * - `sluice_counters_call_ms{operation}`: duration of calls in milliseconds.
 * - `sluice_counters_hot_ids`: number of hot ids. `HeavyKeeper` may miss a hot id but never reports an id that is not
 *   hot.
 *
 * The metrics of the wrapped counters are reported too. Throws `SLUICE_BAD_OPTION`.
 */
export function meteredCounters(counters: Counters, options: MeteredCountersOptions = {}): MeteredCounters {
  const { name = 'default', hotPerSecond = 1_000, clock } = optionsOf('meteredCounters', options, OPTIONS)
  if (typeof counters?.incrementMany !== 'function') {
    throw badOption('meteredCounters: counters', counters, 'counters such as createCounters()')
  }
  const leastPerSecond = integerFrom('meteredCounters: hotPerSecond', hotPerSecond, 1, 1_000_000)
  return new CallMeter(counters, { name, leastPerSecond, clock: clockOf(clock) })
}

const OPTIONS = ['name', 'hotPerSecond', 'clock'] as const

class CallMeter implements MeteredCounters {
  readonly #counters: Counters
  readonly #clock: Clock
  readonly #calls = new CounterMetric({
    name: 'calls_total',
    help: 'Calls of counters by operation and result.',
    labels: ['operation', 'result'],
  })
  readonly #callMs = new HistogramMetric({
    name: 'call_ms',
    help: 'Duration of calls of counters, in milliseconds.',
    labels: ['operation'],
    buckets: BUCKETS_MS,
  })
  readonly #hotIds: HotIds
  readonly #own: Metrics

  constructor(
    counters: Counters,
    { name, leastPerSecond, clock }: { readonly name: string; readonly leastPerSecond: number; readonly clock: Clock },
  ) {
    this.#counters = counters
    this.#clock = clock
    this.#hotIds = new HotIds(leastPerSecond, clock)
    this.#own = namedMetrics(name, [this.#calls, this.#callMs, this.#hotIds])
  }

  *metrics(): Iterable<Metric> {
    yield* this.#own.metrics()
    const counters: Counters & Partial<MetricSource> = this.#counters
    yield* counters.metrics?.() ?? []
  }

  hotIds(): readonly HotId[] {
    return this.#hotIds.last()
  }

  get down(): readonly string[] | undefined {
    return this.#counters.down
  }

  increment(id: string, delta?: number, options?: IncrementOptions): Promise<CounterReceipt> {
    const call = async (): Promise<CounterReceipt> => {
      const receipt = await this.#counters.increment(id, delta, options)
      this.#hotIds.count(id)
      return receipt
    }
    return this.#timed('increment', call, resultOf)
  }

  incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt> {
    const call = async (): Promise<BatchReceipt> => {
      const receipt = await this.#counters.incrementMany(deltas, options)
      for (const id of receipt.values.keys()) this.#hotIds.count(id)
      return receipt
    }
    return this.#timed('incrementMany', call, resultOf)
  }

  read(id: string, options?: ReadOptions): Promise<CounterReading> {
    return this.#timed('read', () => this.#counters.read(id, options))
  }

  readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]> {
    return this.#timed('readMany', () => this.#counters.readMany(prefix, options))
  }

  aggregate(prefix: string, kind?: 'sum'): Promise<number> {
    return this.#timed('aggregate', () => this.#counters.aggregate(prefix, kind))
  }

  reset(id: string): Promise<void> {
    return this.#timed('reset', () => this.#counters.reset(id))
  }

  delete(id: string): Promise<void> {
    return this.#timed('delete', () => this.#counters.delete(id))
  }

  flush(): Promise<void> {
    return this.#timed('flush', () => this.#counters.flush())
  }

  close(): Promise<void> {
    return this.#counters.close()
  }

  async #timed<T>(
    operation: string,
    call: () => Promise<T>,
    resultFor: (answer: T) => string = () => 'ok',
  ): Promise<T> {
    const from = this.#clock.now()
    let result = 'error'
    try {
      const answer = await call()
      result = resultFor(answer)
      return answer
    } catch (error) {
      result = codeOf(error)
      throw error
    } finally {
      this.#calls.add(1, operation, result)
      this.#callMs.observe(Math.max(0, this.#clock.now() - from), operation)
    }
  }
}

function resultOf({ counted }: CounterReceipt | BatchReceipt): string {
  return counted ? 'ok' : 'duplicate'
}
