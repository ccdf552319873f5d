import type { Clock, Observer } from '@sluice/limiter-core'
import {
  badOption,
  clockOf,
  type Duration,
  Observers,
  parseTimerMs,
  SluiceError,
  shown,
} from '@sluice/limiter-core/backend'
import type { CounterLedger } from './ledger/counter-ledger.ts'
import { TimedTable } from './ledger/timed-table.ts'
import { MeteredTable } from './metrics/metered-table.ts'

/** What counters of every tier are made of. */
export interface SharedCountersOptions {
  /** Counters of one name count together; 1 to 64 of `A-Z a-z 0-9 _ . -`. Default: `default`. */
  readonly name?: string | undefined
  /** How long a unit waits until it goes to the ledger. Default: 1 s. */
  readonly flushMs?: Duration | undefined
  /** How old the total of an entry may be that a read answers from. Default: 60 s. */
  readonly expireMs?: Duration | undefined
  /** How long an increment waits for the ledger and Redis, and any other call for each answer of theirs. Default: 5 s. */
  readonly waitMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /** They hear `backendFailed` for each attempt to write to the ledger that failed. */
  readonly observers?: readonly Observer[] | undefined
}

/** The names of `SharedCountersOptions`, for `optionsOf`. */
export const SHARED_COUNTERS_OPTIONS = ['name', 'flushMs', 'expireMs', 'waitMs', 'clock', 'observers'] as const

/** What everything that is written to a ledger is told, checked. */
export interface LedgerSettings {
  readonly name: string
  readonly durable: boolean
  readonly flushMs: number
  readonly waitMs: number
  readonly clock: Clock
  readonly observers: Observers
}

/** The same of counters. */
export interface CounterSettings extends LedgerSettings {
  readonly table: MeteredTable
  readonly expireMs: number
}

/** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`. */
export function counterSettings(owner: string, ledger: CounterLedger, options: SharedCountersOptions): CounterSettings {
  const settings = ledgerSettings(owner, ledger, options)
  const { name, clock, waitMs } = settings
  const table = new MeteredTable(new TimedTable(ledger.open(name), clock, waitMs), clock)
  const expireMs = parseTimerMs(options.expireMs ?? 60_000, `${owner}: expireMs`)
  return { ...settings, expireMs, table }
}

/** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`. */
export function ledgerSettings(
  owner: string,
  ledger: CounterLedger,
  options: Omit<SharedCountersOptions, 'expireMs'>,
): LedgerSettings {
  const { name = 'default', flushMs = 1_000, waitMs = 5_000, observers } = options
  if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name)) {
    const expected = '1 to 64 letters, digits, _, . or -'
    throw new SluiceError('SLUICE_BAD_NAME', `${owner}: name: expected ${expected}, received ${shown(name, 'name')}`)
  }
  if (typeof ledger?.open !== 'function') {
    throw badOption(`${owner}: ledger`, ledger, 'a ledger of counters, as postgresLedger makes it')
  }
  return {
    name,
    durable: ledger.durable,
    flushMs: parseTimerMs(flushMs, `${owner}: flushMs`),
    waitMs: parseTimerMs(waitMs, `${owner}: waitMs`),
    clock: clockOf(options.clock),
    observers: new Observers(observers),
  }
}

/** `value` where it is a whole number from 1 to `most`; throws `SLUICE_BAD_OPTION` otherwise. */
export function wholeWithin(option: string, value: unknown, most: number): number {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most) return Number(value)
  throw badOption(option, value, `a whole number from 1 to ${most}`)
}
