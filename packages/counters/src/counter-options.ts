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

/** Options shared by in-process and Redis counters. */
export interface SharedCountersOptions {
  /**
   * Namespace of the ids: counters with the same name share their values. 1 to 64 of `A-Z a-z 0-9 _ . -`. Default:
   * `default`.
   */
  readonly name?: string | undefined
  /** Time between writes to the ledger. Default: 1 s. */
  readonly flushMs?: Duration | undefined
  /** Maximum age of a cached ledger total that a read may use. Default: 60 s. */
  readonly expireMs?: Duration | undefined
  /** Timeout of an increment as a whole, and of each ledger or Redis request that another call makes. Default: 5 s. */
  readonly waitMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /** Receive `backendFailed` for each failed attempt to write to the ledger. */
  readonly observers?: readonly Observer[] | undefined
}

/** Names of the options in `SharedCountersOptions`, for `optionsOf`. */
export const SHARED_COUNTERS_OPTIONS = ['name', 'flushMs', 'expireMs', 'waitMs', 'clock', 'observers'] as const

/** Validated options of everything that writes to a ledger: counters and stored sketches. */
export interface LedgerSettings {
  readonly name: string
  readonly durable: boolean
  readonly flushMs: number
  readonly waitMs: number
  readonly clock: Clock
  readonly observers: Observers
}

/** Validated options of counters. */
export interface CounterSettings extends LedgerSettings {
  readonly table: MeteredTable
  readonly expireMs: number
}

/**
 * Validates `options` and opens the counters in the ledger. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and
 * `SLUICE_BAD_NAME`.
 */
export function counterSettings(owner: string, ledger: CounterLedger, options: SharedCountersOptions): CounterSettings {
  const settings = ledgerSettings(owner, ledger, options)
  const { name, clock, waitMs } = settings
  const table = new MeteredTable(new TimedTable(ledger.open(name), clock, waitMs), clock)
  const expireMs = parseTimerMs(options.expireMs ?? 60_000, `${owner}: expireMs`)
  return { ...settings, expireMs, table }
}

/** Validates `options`. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`. */
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
    throw badOption(`${owner}: ledger`, ledger, 'a counter ledger such as postgresLedger(pool)')
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
