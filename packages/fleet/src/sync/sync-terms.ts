import { badOption, type Duration, integerFrom, parseMs } from '@sluice/limiter-core/backend'

/** Options that control how often and how much a process reports to the ledger. */
export interface SyncOptions {
  /**
   * Time between two reports of a process: milliseconds or a duration, from 100 ms to 1 min. It varies randomly by a
   * tenth. Default: 1 s.
   */
  readonly tickMs?: Duration | undefined
  /**
   * Minimum time between two reports of a process, also for urgent keys: milliseconds or a duration, from 1 ms to
   * `tickMs`. Default: 50 ms.
   */
  readonly gapMs?: Duration | undefined
  /**
   * Fraction of a limit that a process may admit between two replies, above 0 and at most 1; always at least one unit.
   * Below 1, a process may deny a client that is below its limit for `gapMs`. Default: 1.
   */
  readonly burst?: number | undefined
  /**
   * Maximum number of units per key that a process leaves unreported. All processes together leave at most 1 % of the
   * limit unreported. 0 reports every unit. Default: 10.
   */
  readonly floor?: number | undefined
  /** Number of processes that share the limits, an integer of at least 1. Default: the number that currently report. */
  readonly nodes?: number | undefined
  /**
   * Time without a reply after which the failure rule applies: milliseconds or a duration, from `tickMs` to 10 min.
   * Default: 3 s, or `tickMs` if that is longer.
   */
  readonly silentMs?: Duration | undefined
  /** Time for `close` to send the remaining reports: milliseconds or a duration, up to 1 min. Default: 1 s. */
  readonly closeMs?: Duration | undefined
  /** Maximum number of keys in memory. The least used keys are evicted first. Default: 300,000. */
  readonly maxKeys?: number | undefined
  /**
   * Requests that are counted. `all` includes denied requests, so that a client above its limit stays denied until it
   * sends fewer requests than the limit allows. Default: `admitted`.
   */
  readonly count?: 'admitted' | 'all' | undefined
}

/** The names of `SyncOptions`, for `optionsOf`. */
export const SYNC_OPTIONS = [
  'tickMs',
  'gapMs',
  'burst',
  'floor',
  'nodes',
  'silentMs',
  'closeMs',
  'maxKeys',
  'count',
] as const

/** Validated `SyncOptions`. */
export interface SyncTerms {
  readonly tickMs: number
  readonly gapMs: number
  readonly burst: number
  readonly floor: number
  readonly nodes: number | undefined
  readonly silentMs: number
  readonly closeMs: number
  readonly maxKeys: number
  readonly countsDenied: boolean
}

const MIN_TICK_MS = 100
export const DEFAULT_MAX_KEYS = 300_000

/** Validates the options and adds defaults. Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION`. */
export function syncTermsOf(owner: string, options: SyncOptions): SyncTerms {
  const { nodes, floor = 10, burst = 1, maxKeys = DEFAULT_MAX_KEYS, count = 'admitted' } = options
  const tickMs = msOf(owner, 'tickMs', options.tickMs ?? 1_000, MIN_TICK_MS, 60_000)
  const gapMs = msOf(owner, 'gapMs', options.gapMs ?? 50, 1, tickMs)
  const silentMs = msOf(owner, 'silentMs', options.silentMs ?? Math.max(3_000, tickMs), tickMs, 600_000)
  const closeMs = msOf(owner, 'closeMs', options.closeMs ?? 1_000, 0, 60_000)
  if (nodes !== undefined) integerFrom(`${owner}: nodes`, nodes, 1)
  if (!(burst > 0 && burst <= 1)) throw badOption(`${owner}: burst`, burst, 'a number above 0 and at most 1')
  if (!(floor >= 0 && floor <= Number.MAX_SAFE_INTEGER)) {
    throw badOption(`${owner}: floor`, floor, 'a number of at least 0')
  }
  integerFrom(`${owner}: maxKeys`, maxKeys, 1)
  if (count !== 'admitted' && count !== 'all') throw badOption(`${owner}: count`, count, "'admitted' or 'all'")
  return { tickMs, gapMs, burst, floor, nodes, silentMs, closeMs, maxKeys, countsDenied: count === 'all' }
}

function msOf(owner: string, name: string, value: unknown, least: number, most: number): number {
  const ms = parseMs(value, `${owner}: ${name}`)
  if (ms >= least && ms <= most) return ms
  throw badOption(`${owner}: ${name}`, value, `a duration from ${least} to ${most} ms`)
}
