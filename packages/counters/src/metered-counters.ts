import type {
  BatchReceipt,
  Clock,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  Metric,
  MetricSource,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/limiter-core'
import { badOption, CounterMetric, clockOf, HistogramMetric, Metrics, optionsOf } from '@sluice/limiter-core/backend'

export interface MeteredCountersOptions {
  /** The value of the label `counters`. Default: `default`. */
  readonly name?: string | undefined
  readonly clock?: Partial<Clock> | undefined
}

const BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000]

/**
 * Counters of any tier or kind that count what they are asked, for `prometheusText`. No id is a label.
 *
 * - `sluice_counters_calls_total{operation, result}`: `ok`, `duplicate` for a token that had counted, else the code.
 * - `sluice_counters_call_ms{operation}`: how long calls took.
 *
 * Throws `SLUICE_BAD_OPTION`.
 */
export function meteredCounters(counters: Counters, options: MeteredCountersOptions = {}): Counters & MetricSource {
  const { name = 'default', clock } = optionsOf('meteredCounters', options, ['name', 'clock'])
  if (typeof counters?.incrementMany !== 'function') {
    throw badOption('meteredCounters: counters', counters, 'counters, as createCounters makes them')
  }
  return new MeteredCounters(counters, name, clockOf(clock))
}

class MeteredCounters implements Counters, MetricSource {
  readonly #counters: Counters
  readonly #clock: Clock
  readonly #calls = new CounterMetric({
    name: 'calls_total',
    help: 'Calls of counters by operation and result.',
    labels: ['operation', 'result'],
  })
  readonly #callMs = new HistogramMetric({
    name: 'call_ms',
    help: 'How long calls of counters took, in milliseconds.',
    labels: ['operation'],
    buckets: BUCKETS_MS,
  })
  readonly #all: Metrics

  constructor(counters: Counters, name: string, clock: Clock) {
    this.#counters = counters
    this.#clock = clock
    const options = { prefix: 'sluice_counters_', labels: { counters: name } }
    this.#all = new Metrics([this.#calls, this.#callMs], options)
  }

  metrics(): Iterable<Metric> {
    return this.#all.metrics()
  }

  increment(id: string, delta?: number, options?: IncrementOptions): Promise<CounterReceipt> {
    return this.#timed('increment', () => this.#counters.increment(id, delta, options), resultOf)
  }

  incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt> {
    return this.#timed('incrementMany', () => this.#counters.incrementMany(deltas, options), resultOf)
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

/** Codes of ours are few; what else failed is one of a kind. */
function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && code.startsWith('SLUICE_') ? code : 'error'
}
