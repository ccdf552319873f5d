import {
  badOption,
  type Clock,
  clockOf,
  compileFailover,
  type Duration,
  type MaybePromise,
  type Observer,
  optionsOf,
  parseMs,
} from '@sluice/limiter-core/backend'
import type { BloomOptions } from '../../bloom/bloom-options.ts'
import { wholeOption } from '../../sketch-error.ts'

/**
 * A key of a list. Numbers are converted to strings, so `7` and `'7'` are the same key, because databases and headers
 * represent them differently.
 */
export type ListKey = string | number | bigint

/** Result for a key if `exact` cannot be asked. */
export type ListErrorRule = 'present' | 'absent'

/** How long, and for how many keys, results of `exact` are cached. */
export interface RememberOptions {
  /** Milliseconds, from 1, or a duration. So long may a key that was taken off the list be still on it. */
  readonly ttlMs: Duration
  /** Number of cached keys, from 1 to 1,000,000; a further key replaces the oldest one. Default: 1,000. */
  readonly keys?: number | undefined
}

/** Options of block and allow lists. `capacity`, `errorRate` and `seed` configure the filter. */
export interface KeyListOptions extends BloomOptions {
  /**
   * Returns whether a key is on the list: a query of the database that stores the list. Called for keys that the
   * filter cannot exclude: all keys on the list, and `errorRate` of the others.
   */
  readonly exact: (key: string) => MaybePromise<boolean>
  /** Name in warnings and events. Default: `block list` or `allow list`. */
  readonly name?: string | undefined
  /**
   * Result if `exact` throws, rejects, times out or returns something other than a boolean. Default: `'present'` for
   * a block list and `'absent'` for an allow list, so that a database outage admits no additional client.
   */
  readonly onError?: ListErrorRule | undefined
  /** Longest time for `exact`: 1 to 60,000 ms, or a duration. Default: 50 ms. */
  readonly deadlineMs?: Duration | undefined
  /** Caches results of `exact`. Default: no caching. */
  readonly remember?: RememberOptions | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}

/** Validated `KeyListOptions` without those of the filter. */
export interface KeyListPlan {
  readonly name: string
  readonly exact: (key: string) => MaybePromise<boolean>
  /** Result if `exact` fails. */
  readonly onError: boolean
  readonly deadlineMs: number
  /** 0 where nothing is remembered. */
  readonly rememberMs: number
  readonly rememberedKeys: number
  readonly clock: Clock
  readonly observers: readonly Observer[]
}

const OPTIONS = [
  'capacity',
  'errorRate',
  'seed',
  'exact',
  'name',
  'onError',
  'deadlineMs',
  'remember',
  'observers',
  'clock',
] as const

const MAX_REMEMBERED = 1_000_000

/** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function keyListPlan(owner: string, options: KeyListOptions, safe: ListErrorRule): KeyListPlan {
  const {
    exact,
    name = owner,
    onError = safe,
    deadlineMs,
    remember,
    observers = [],
  } = optionsOf(owner, options, OPTIONS)
  if (typeof exact !== 'function') throw badOption(`${owner} exact`, exact, 'a function of a key')
  if (typeof name !== 'string' || name === '') throw badOption(`${owner} name`, name, 'a text')
  if (onError !== 'present' && onError !== 'absent')
    throw badOption(`${owner} onError`, onError, "'present' or 'absent'")
  return {
    name,
    exact,
    onError: onError === 'present',
    deadlineMs: compileFailover({ deadlineMs }).deadlineMs,
    ...rememberPlan(`${owner} remember`, remember),
    clock: clockOf(options.clock),
    observers,
  }
}

function rememberPlan(
  owner: string,
  remember: RememberOptions | undefined,
): Pick<KeyListPlan, 'rememberMs' | 'rememberedKeys'> {
  if (remember === undefined) return { rememberMs: 0, rememberedKeys: 0 }
  const { ttlMs, keys = 1_000 } = optionsOf(owner, remember, ['ttlMs', 'keys'])
  const rememberMs = parseMs(ttlMs, `${owner} ttlMs`)
  if (!(rememberMs >= 1)) throw badOption(`${owner} ttlMs`, ttlMs, '1 ms or more')
  return { rememberMs, rememberedKeys: wholeOption(`${owner} keys`, keys, 1, MAX_REMEMBERED) }
}
