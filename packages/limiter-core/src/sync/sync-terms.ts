import { badOption } from '../errors/bad-option.ts'
import { type Duration, parseMs } from '../time/duration.ts'

/** How often and how much processes report. */
export interface SyncOptions {
  /**
   * Time between two reports of a process: milliseconds, or a duration, from 100 ms. Default: 1 s. Varies randomly by
   * a tenth.
   */
  readonly tickMs?: Duration | undefined
  /** At least so long lies between two reports, in ms or as a duration: 1 ms to `tickMs`; default: 50 ms. */
  readonly gapMs?: Duration | undefined
  /**
   * Part of a limit that a process may admit between two replies: above 0, at most 1. Default: 0.25, or 1 / `nodes`
   * if that is more. At least one unit.
   */
  readonly burst?: number | undefined
  /**
   * Largest number of units of a key that a process does not report; also at most 1 % of a limit over all processes.
   * 0 reports every unit. Default: 10.
   */
  readonly floor?: number | undefined
  /** Number of processes that share the limits. Default: the number of processes that report. */
  readonly nodes?: number | undefined
  /**
   * Time without a reply after which the failure rule applies: milliseconds, or a duration, at least `tickMs`.
   * Default: 3 s.
   */
  readonly silentMs?: Duration | undefined
  /** How long `close` tries to send the remaining reports: milliseconds, or a duration. Default: 1 s. */
  readonly closeMs?: Duration | undefined
  /** Largest number of keys in memory; the least used are forgotten first. Default: 300,000. */
  readonly maxKeys?: number | undefined
  /**
   * What to count. `all` also counts denied requests: a client above its limit stays denied until its demand falls
   * below the limit. Default: `admitted`.
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

/** `SyncOptions`, checked. */
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

const LEAST_TICK_MS = 100
const BURST = 0.25
const MANY = Number.POSITIVE_INFINITY
export const DEFAULT_MAX_KEYS = 300_000

/** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function syncTermsOf(owner: string, options: SyncOptions): SyncTerms {
  const {
    nodes,
    floor = 10,
    burst = Math.max(BURST, 1 / (nodes ?? MANY)),
    maxKeys = DEFAULT_MAX_KEYS,
    count = 'admitted',
  } = options
  const tickMs = msOf(owner, 'tickMs', options.tickMs ?? 1_000, LEAST_TICK_MS, 60_000)
  const gapMs = msOf(owner, 'gapMs', options.gapMs ?? 50, 1, tickMs)
  const silentMs = msOf(owner, 'silentMs', options.silentMs ?? Math.max(3_000, tickMs), tickMs, 600_000)
  const closeMs = msOf(owner, 'closeMs', options.closeMs ?? 1_000, 0, 60_000)
  if (nodes !== undefined) wholeFrom(owner, 'nodes', nodes)
  if (!(burst > 0 && burst <= 1)) throw badOption(`${owner}: burst`, burst, 'more than 0, at most 1')
  if (!(floor >= 0 && floor <= Number.MAX_SAFE_INTEGER)) throw badOption(`${owner}: floor`, floor, '0 or more')
  wholeFrom(owner, 'maxKeys', maxKeys)
  if (count !== 'admitted' && count !== 'all') throw badOption(`${owner}: count`, count, "'admitted' or 'all'")
  return { tickMs, gapMs, burst, floor, nodes, silentMs, closeMs, maxKeys, countsDenied: count === 'all' }
}

function msOf(owner: string, name: string, value: unknown, least: number, most: number): number {
  const ms = parseMs(value, `${owner}: ${name}`)
  if (ms >= least && ms <= most) return ms
  throw badOption(`${owner}: ${name}`, value, `ms from ${least} to ${most}, or '500ms', '10s', '1m'`)
}

function wholeFrom(owner: string, name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return
  throw badOption(`${owner}: ${name}`, value, 'a whole number from 1')
}
