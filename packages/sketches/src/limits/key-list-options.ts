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
import type { BloomOptions } from '../bloom/bloom-options.ts'
import { wholeOption } from '../sketch-error.ts'

/** A key of a list. A number is its text: `7` and `'7'` are one key, since a database and a header spell it differently. */
export type ListKey = string | number | bigint

/** What a list answers of a key of which nobody could tell whether it is on it. */
export type ListErrorRule = 'present' | 'absent'

/** How long, and of how many keys, what `exact` said is remembered. */
export interface RememberOptions {
  /** Milliseconds, from 1, or a duration. So long may a key that was taken off the list be still on it. */
  readonly forMs: Duration
  /** From 1 to 1,000,000; default: 1,000. Who would be one more takes the place of the oldest. */
  readonly keys?: number | undefined
}

/** Of a block list and of an allow list. `capacity`, `errorRate` and `seed` are those of its filter. */
export interface KeyListOptions extends BloomOptions {
  /**
   * Says whether a key is on the list, where the filter cannot rule it out: a query of the database where the list
   * lives. Asked about keys that are on it, and about `errorRate` of all others.
   */
  readonly exact: (key: string) => MaybePromise<boolean>
  /** In warnings and events; default: `block list` or `allow list`. */
  readonly name?: string | undefined
  /**
   * Who answers where `exact` throws, rejects, is late or answers neither true nor false. Default: `'present'` of a
   * block list, `'absent'` of an allow list: nobody gets in because a database is down.
   */
  readonly onError?: ListErrorRule | undefined
  /** How long `exact` may take, from 1 to 60,000 ms or a duration; default: 50 ms. */
  readonly deadlineMs?: Duration | undefined
  /** Spares `exact` the questions of those who ask again and again. Default: nothing is remembered. */
  readonly remember?: RememberOptions | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
}

/** `KeyListOptions` without those of the filter, checked. */
export interface KeyListPlan {
  readonly name: string
  readonly exact: (key: string) => MaybePromise<boolean>
  /** The answer where there is none. */
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

const MOST_REMEMBERED = 1_000_000

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
  const { forMs, keys = 1_000 } = optionsOf(owner, remember, ['forMs', 'keys'])
  const rememberMs = parseMs(forMs, `${owner} forMs`)
  if (!(rememberMs >= 1)) throw badOption(`${owner} forMs`, forMs, '1 ms or more')
  return { rememberMs, rememberedKeys: wholeOption(`${owner} keys`, keys, 1, MOST_REMEMBERED) }
}
