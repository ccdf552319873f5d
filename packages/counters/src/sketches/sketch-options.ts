import type { SharedCountersOptions } from '../counter-options.ts'
import type { HourlyOptions } from '../kinds/utc-hours.ts'
import type { CounterLedger } from '../ledger/counter-ledger.ts'

/** What `uniqueCounters` and `digestCounters` have in common. */
export interface StoredSketchOptions extends Omit<SharedCountersOptions, 'expireMs'>, HourlyOptions {
  /** Where they are kept: `postgresLedger`, `embeddedLedger`. Default: in memory, gone with the process. */
  readonly ledger?: CounterLedger | undefined
  /** Most ids of one batch, 1 to 10,000; as many that wait go at once. Default: 200. */
  readonly maxBatch?: number | undefined
  /**
   * Most ids that wait for the ledger, of each hour, 1 to 1,000,000; one more is refused by `SLUICE_COUNTERS_FULL`. Each
   * takes the memory of one sketch until it is written. Default: 10,000.
   */
  readonly maxWaiting?: number | undefined
  /** From 0 to 1, 1 left out: which rows are merged while they are added. Default: `Math.random`. */
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
  /** Answer when the ledger has it, and not before. Default: false. */
  readonly durable?: boolean | undefined
}

export interface SketchReceipt {
  /** True where no crash of any part can undo it. */
  readonly durable: boolean
}

export interface HourReadOptions {
  /** A time in the hour, epoch ms. Default: now. */
  readonly now?: number | undefined
}

export interface DayReadOptions {
  /** A time in the last day, epoch ms. Default: now. */
  readonly now?: number | undefined
  /** How many days, the last included, 1 to 1,000. Default: 1. */
  readonly days?: number | undefined
}
