import type { Clock, LimitOverrides, MaybePromise } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import { oneOf, optionalBoolean, optionalFunction, optionsOf } from '../options/options.ts'
import { clockOf, MAX_TIMER_MS } from '../time/clock.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { KeyLimits, type LimitsByKey } from './key-limits.ts'
import { LoadedLimits } from './loaded-limits.ts'

/** Which keys have an override. */
interface OverriddenKeys {
  /** Whether a key without an override uses the override of the part before its first `:`. Default: false. */
  readonly hierarchical?: boolean | undefined
  /** Keys without an override: `policy`, the default, counts them by the policy itself; `exempt` does not count them. */
  readonly others?: LimitOverrides['others'] | undefined
}

/** Limits that do not change. */
export interface FixedOverridesOptions extends OverriddenKeys {
  readonly limits: LimitsByKey
}

/** Limits that are loaded again and again. */
export interface LoadedOverridesOptions extends OverriddenKeys {
  /**
   * Returns all overrides, which replace the previous ones. If it throws, rejects, or returns `undefined` or an
   * invalid limit, the previous overrides stay in force. Only one call runs at a time, so give it its own timeout.
   */
  readonly load: () => MaybePromise<LimitsByKey | undefined>
  /** Between two loads, the first of which is made at once; default: 60 s, at least 1 s. */
  readonly everyMs?: Duration | undefined
  readonly clock?: Clock | undefined
}

export type LimitOverridesOptions = FixedOverridesOptions | LoadedOverridesOptions

const FIXED = ['limits', 'hierarchical', 'others'] as const
const LOADED = ['load', 'everyMs', 'clock', 'hierarchical', 'others'] as const
const DEFAULT_EVERY_MS = 60_000
const LEAST_EVERY_MS = 1_000

/**
 * Creates limits of single keys for the option `overrides` of policies. Throws `SLUICE_BAD_OPTION`,
 * `SLUICE_BAD_DURATION`, and `SLUICE_BAD_LIMIT` for an entry of `limits`. Invalid results of `load` are warned about
 * and never thrown.
 */
export function limitOverrides(options: LimitOverridesOptions): LimitOverrides {
  const given = options as Partial<FixedOverridesOptions & LoadedOverridesOptions>
  optionsOf('limitOverrides', given, [...new Set([...FIXED, ...LOADED])])
  const { limits, load, everyMs, clock, hierarchical, others = 'policy' } = given
  const isHierarchical = optionalBoolean('limitOverrides: hierarchical', hierarchical)
  oneOf('limitOverrides: others', others, ['policy', 'exempt'])
  if ((limits === undefined) === (load === undefined)) {
    const got = limits === undefined ? 'neither' : 'both'
    throw new SluiceError('SLUICE_BAD_OPTION', `limitOverrides: expected load or limits, received ${got}`)
  }
  if (limits !== undefined) {
    optionsOf('limitOverrides', given, FIXED)
    return new KeyLimits(limits, { hierarchical: isHierarchical, others })
  }
  optionalFunction('limitOverrides: load', load)
  const loading = {
    load: load as LoadedOverridesOptions['load'],
    everyMs: parseEveryMs(everyMs),
    clock: clockOf(clock),
  }
  return new LoadedLimits(loading, { hierarchical: isHierarchical, others })
}

function parseEveryMs(value: Duration | undefined): number {
  if (value === undefined) return DEFAULT_EVERY_MS
  const everyMs = parseDuration(value, 'limitOverrides: everyMs')
  if (everyMs >= LEAST_EVERY_MS && everyMs <= MAX_TIMER_MS) return everyMs
  const got = shown(value, 'everyMs')
  throw new SluiceError(
    'SLUICE_BAD_DURATION',
    `limitOverrides: everyMs: expected ${LEAST_EVERY_MS} to ${MAX_TIMER_MS} ms, received ${got}`,
  )
}
