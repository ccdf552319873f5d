import type { Counters, MetricSource } from '@sluice/limiter-core'
import { clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { BufferedCounters } from './buffer/buffered-counters.ts'
import { counterSettings, SHARED_COUNTERS_OPTIONS, type SharedCountersOptions, wholeWithin } from './counter-options.ts'
import type { CounterLedger } from './ledger/counter-ledger.ts'
import { MemoryLedger } from './ledger/memory-ledger.ts'

export interface CountersOptions extends SharedCountersOptions {
  /** Where counts are kept: `postgresLedger`, `embeddedLedger`. Default: in memory, gone with the process. */
  readonly ledger?: CounterLedger | undefined
  /** Most ids of one batch, 1 to 100,000; as many that wait go at once. Default: 10,000. */
  readonly maxBatch?: number | undefined
  /** Most ids that wait for a ledger that is away; one more is refused by `SLUICE_COUNTERS_FULL`. Default: 100,000. */
  readonly maxWaiting?: number | undefined
  /** Most entries kept of which the ledger has all. Default: 100,000. */
  readonly maxEntries?: number | undefined
}

const OPTIONS = [...SHARED_COUNTERS_OPTIONS, 'ledger', 'maxBatch', 'maxWaiting', 'maxEntries'] as const
const MOST = 10_000_000

/**
 * Counters that add in this process and are written to a ledger in batches, each unit once. A killed process loses what
 * it counted within `flushMs`, and nothing that was `durable` or had a token. It is a source of metrics, too.
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
    maxBatch: wholeWithin('createCounters: maxBatch', maxBatch, 100_000),
    maxWaiting: wholeWithin('createCounters: maxWaiting', maxWaiting, MOST),
    maxEntries: wholeWithin('createCounters: maxEntries', maxEntries, MOST),
  })
}
