import type { Counters } from '@sluice/fleet/backend'
import type { MetricSource } from '@sluice/limiter-core'
import { clockOf, integerFrom, optionsOf } from '@sluice/limiter-core/backend'
import { BufferedCounters } from './buffer/buffered-counters.ts'
import { counterSettings, SHARED_COUNTERS_OPTIONS, type SharedCountersOptions } from './counter-options.ts'
import type { CounterLedger } from './ledger/counter-ledger.ts'
import { MemoryLedger } from './ledger/memory-ledger.ts'

export interface CountersOptions extends SharedCountersOptions {
  /**
   * Durable storage, from `postgresLedger` or `embeddedLedger`. Default: memory, which is lost when the process ends.
   */
  readonly ledger?: CounterLedger | undefined
  /**
   * Maximum number of ids in a batch, 1 to 100,000. That many waiting ids are sent without waiting for `flushMs`.
   * Default: 10,000.
   */
  readonly maxBatch?: number | undefined
  /**
   * Maximum number of ids with unwritten units, e.g. while the ledger is down; increments of further ids are rejected
   * with `SLUICE_COUNTERS_FULL`. 1 to 10,000,000. Default: 100,000.
   */
  readonly maxWaiting?: number | undefined
  /** Maximum number of cached counters without unwritten units. 1 to 10,000,000. Default: 100,000. */
  readonly maxEntries?: number | undefined
}

const OPTIONS = [...SHARED_COUNTERS_OPTIONS, 'ledger', 'maxBatch', 'maxWaiting', 'maxEntries'] as const
const MAX_LIMIT = 10_000_000

/**
 * Creates counters that count in this process and write to a ledger in batches; each unit is written exactly once. A
 * process that is killed loses what it counted within the last `flushMs`, except increments that were `durable` or had
 * a token. The counters are also a metric source.
 *
 * Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`.
 */
export function createCounters(options: CountersOptions = {}): Counters & MetricSource {
  const {
    maxBatch = 10_000,
    maxWaiting = 100_000,
    maxEntries = 100_000,
  } = optionsOf('createCounters', options, OPTIONS)
  const ledger = options.ledger ?? new MemoryLedger(clockOf(options.clock))
  return new BufferedCounters({
    ...counterSettings('createCounters', ledger, options),
    maxBatch: integerFrom('createCounters: maxBatch', maxBatch, 1, 100_000),
    maxWaiting: integerFrom('createCounters: maxWaiting', maxWaiting, 1, MAX_LIMIT),
    maxEntries: integerFrom('createCounters: maxEntries', maxEntries, 1, MAX_LIMIT),
  })
}
