import type { Clock, LimitOverrides, MaybePromise } from '../contracts.ts'
import { badValue } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { oneOf, optionalBoolean, optionalFunction, optionsOf } from '../options/options.ts'
import { clockOf, MAX_TIMER_MS } from '../time/clock.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { KeyLimits, type LimitsByKey, type OverriddenKeys } from './key-limits.ts'
import { LoadedLimits } from './loaded-limits.ts'

/** Options of limits that do not change. */
export interface FixedOverridesOptions extends OverriddenKeys {
  readonly limits: LimitsByKey
}

/** Options of limits that are loaded periodically, for example from a database. */
export interface LoadedOverridesOptions extends OverriddenKeys {
  /**
   * Returns all overrides, which replace the previous ones. If it throws, rejects, or returns `undefined` or an
   * invalid limit, the previous overrides stay in force. Only one call runs at a time, so give it its own timeout.
   */
  readonly load: () => MaybePromise<LimitsByKey | undefined>
  /** Interval of loads, from 1 s to 2^31 - 1 ms. The first load is made at once. Default: 60 s. */
  readonly refreshMs?: Duration | undefined
  readonly clock?: Clock | undefined
}

export type LimitOverridesOptions = FixedOverridesOptions | LoadedOverridesOptions

const FIXED = ['limits', 'hierarchical', 'others'] as const
const LOADED = ['load', 'refreshMs', 'clock', 'hierarchical', 'others'] as const
const DEFAULT_EVERY_MS = 60_000
const MIN_REFRESH_MS = 1_000

/**
 * Creates limits of single keys for the option `overrides` of policies. Throws `SLUICE_BAD_OPTION`,
 * `SLUICE_BAD_DURATION` for `refreshMs`, and `SLUICE_BAD_LIMIT` for an entry of `limits`. If `load` fails or returns
 * invalid limits, the process warns with `SLUICE_OVERRIDES_STALE`.
 */
export function limitOverrides(options: LimitOverridesOptions): LimitOverrides {
  const given = options as Partial<FixedOverridesOptions & LoadedOverridesOptions>
  optionsOf('limitOverrides', given, [...new Set([...FIXED, ...LOADED])])
  const { limits, load, refreshMs, clock, hierarchical, others = 'policy' } = given
  const keys: OverriddenKeys = {
    hierarchical: optionalBoolean('limitOverrides: hierarchical', hierarchical),
    others: oneOf<'policy' | 'exempt'>('limitOverrides: others', others, ['policy', 'exempt']),
  }
  if ((limits === undefined) === (load === undefined)) {
    const received = limits === undefined ? 'neither' : 'both'
    throw new SluiceError('SLUICE_BAD_OPTION', `limitOverrides: expected either load or limits, received ${received}`)
  }
  if (limits !== undefined) {
    optionsOf('limitOverrides', given, FIXED)
    return new KeyLimits(limits, keys)
  }
  optionalFunction('limitOverrides: load', load)
  const loading = {
    load: load as LoadedOverridesOptions['load'],
    refreshMs: parseRefreshMs(refreshMs),
    clock: clockOf(clock),
  }
  return new LoadedLimits(loading, keys)
}

function parseRefreshMs(value: Duration | undefined): number {
  if (value === undefined) return DEFAULT_EVERY_MS
  const option = 'limitOverrides: refreshMs'
  const refreshMs = parseDuration(value, option)
  if (refreshMs >= MIN_REFRESH_MS && refreshMs <= MAX_TIMER_MS) return refreshMs
  throw badValue('SLUICE_BAD_DURATION', option, value, `${MIN_REFRESH_MS} to ${MAX_TIMER_MS} ms`)
}
