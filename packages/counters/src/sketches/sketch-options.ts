import type { SharedCountersOptions } from '../counter-options.ts'
import type { HourlyOptions } from '../kinds/utc-hours.ts'
import type { CounterLedger } from '../ledger/counter-ledger.ts'

/** Options that `uniqueCounters` and `digestCounters` have in common. */
export interface StoredSketchOptions extends Omit<SharedCountersOptions, 'expireMs'>, HourlyOptions {
  /** Ledger that stores the sketches: `postgresLedger` or `embeddedLedger`. Default: in the memory of this process. */
  readonly ledger?: CounterLedger | undefined
  /** Maximum number of ids in one batch, 1 to 10,000; as many waiting ids are sent at once. Default: 200. */
  readonly maxBatch?: number | undefined
  /**
   * Maximum number of ids that wait for the ledger, counted per hour, 1 to 1,000,000; another id is rejected with
   * `SLUICE_COUNTERS_FULL`. Each takes the memory of one sketch until it is written. Default: 10,000.
   */
  readonly maxWaiting?: number | undefined
  /**
   * Random numbers from 0 (inclusive) to 1 (exclusive) that select the rows to merge after an add. Default:
   * `Math.random`.
   */
  readonly random?: (() => number) | undefined
}

/** The names of `StoredSketchOptions`, for `optionsOf`. */
export const STORED_SKETCH_OPTIONS = [
  'name',
  'flushMs',
  'waitMs',
  'clock',
  'observers',
  'ledger',
  'maxBatch',
  'maxWaiting',
  'hours',
  'days',
  'random',
] as const

export interface SketchAddOptions {
  /** Whether to resolve only after the ledger has stored the value. Default: false. */
  readonly durable?: boolean | undefined
}

export interface SketchReceipt {
  /** Whether the value survives a crash of any part. */
  readonly durable: boolean
}

export interface HourReadOptions {
  /** A time in the hour, epoch ms. Default: now. */
  readonly now?: number | undefined
}

export interface DayReadOptions {
  /** A time in the last day, epoch ms. Default: now. */
  readonly now?: number | undefined
  /** Number of days up to and including the last one, 1 to 1,000. Default: 1. */
  readonly days?: number | undefined
}
