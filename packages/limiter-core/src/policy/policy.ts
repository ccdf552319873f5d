import { algorithms } from '../algorithms/index.ts'
import { DRAINING, defaultAlgorithm } from '../algorithms/policy-forms.ts'
import type { AlgorithmName, Backend, LimitOverrides, Policy, PolicyCalendar } from '../contracts.ts'
import { badOption, badValue } from '../errors/bad-option.ts'
import { oneOf, optionalWith, optionsOf, POLICY_ONLY } from '../options/options.ts'
import { type Duration, parseDuration, parseTimerMs } from '../time/duration.ts'
import type { BanInput } from './ban-options.ts'
import { DEFAULT_NAMES } from './default-names.ts'
import { type Mode, parseMode } from './mode.ts'
import { CALENDAR_ALGORITHM, compileCalendar } from './policy-calendar.ts'

/** Options of a policy: at most `limit` units per `window` for each key. */
export interface PolicyInput {
  /** Name in headers, logs and metrics: 1 to 128 printable ASCII characters (RFC 9651 string). Default: `default`. */
  readonly name?: string | undefined
  /** Units per window, an integer from 1 to 999,999,999,999,999, the largest integer that a header can contain. */
  readonly limit: number
  /** Length of the window, such as `'1m'`. */
  readonly window: Duration
  /**
   * Default: `fixed-window` with a `calendar`, `sliding-window` with `slices`, otherwise `sliding-log` for limits up to
   * 32 and `sliding-window` for larger limits.
   */
  readonly algorithm?: AlgorithmName | undefined
  /** Units that fit at once, an integer of at least 1. Only for `token-bucket` and `gcra`. Default: `limit`. */
  readonly burst?: number | undefined
  /** Number of slices of the window, from 1 to 60. Only for `sliding-window`. Default: 1. */
  readonly slices?: number | undefined
  /**
   * Makes windows follow calendar days, weeks or months. Only on quota backends. `window` is then the nominal length,
   * used while the backend is unavailable.
   */
  readonly calendar?: PolicyCalendar | undefined
  /** Limits of single keys that replace `limit`, created by `limitOverrides`. */
  readonly overrides?: LimitOverrides | undefined
  /** Blocks keys that are denied repeatedly, or whose requests fail repeatedly, for a growing time. Default: no bans. */
  readonly ban?: BanInput | undefined
  /** Name of the counted unit in headers and logs, 1 to 128 printable ASCII characters. Default: `requests`. */
  readonly unit?: string | undefined
  /**
   * Longest time for which `Limiter.hold` holds units of the policy, from 1 ms to 24 days: `'10m'`, or a number of
   * milliseconds. It should be longer than the longest request. Default: units cannot be held.
   */
  readonly maxHoldMs?: Duration | undefined
  /**
   * `'booked'`: each denied caller of a key books its own turn, and `retryAfterMs` is the time until that turn, in
   * whole seconds. At most ten limits are booked for a key. Only on backends that book turns, such as memory and Redis;
   * the `local` failure rule books no turns. Default: `retryAfterMs` is the same for all
   * callers of a key, the time until their take fits if no other caller comes first.
   */
  readonly retry?: 'booked' | undefined
  /** Default: the mode of the limiter. If both are set, the more permissive mode applies. */
  readonly mode?: Mode | undefined
  /** Backend that counts this policy. Default: the backend of the limiter. */
  readonly backend?: Backend | undefined
}

/** RFC 9651 section 3.3.1: an integer has at most 15 digits. */
export const LARGEST_HEADER_INTEGER = 999_999_999_999_999
const NAME = /^[\x20-\x7e]{1,128}$/

const POLICY_OPTIONS: readonly (keyof PolicyInput)[] = [...POLICY_ONLY, 'mode', 'backend']

/**
 * Returns the policy of validated options. `fallback` is the algorithm if no option determines it. Throws
 * `SLUICE_BAD_OPTION`, `SLUICE_BAD_NAME`, `SLUICE_BAD_LIMIT`, `SLUICE_BAD_DURATION` or `SLUICE_BAD_POLICY`.
 */
export function compilePolicy(
  input: PolicyInput,
  fallback: AlgorithmName = defaultAlgorithm(input?.limit, {}),
): Policy {
  optionsOf('policy', input, POLICY_OPTIONS)
  const name = headerText(input.name === undefined ? DEFAULT_NAMES.rateLimit : input.name, 'name')
  const owner = `policy '${name}'`
  const { algorithm = impliedBy(input) ?? fallback } = input
  if (typeof algorithm !== 'string' || !Object.hasOwn(algorithms, algorithm)) {
    const expected = `one of ${Object.keys(algorithms).join(', ')}`
    throw badValue('SLUICE_BAD_POLICY', `${owner}: algorithm`, algorithm, expected)
  }
  if (input.mode !== undefined) parseMode(input.mode, `${owner}: mode`)
  optionalWith(`${owner}: overrides`, input.overrides, ['limitOf', 'register'], 'the result of limitOverrides({ … })')
  checkSupport(owner, 'burst', input.burst, DRAINING, algorithm)
  checkSupport(owner, 'slices', input.slices, ['sliding-window'], algorithm)
  if (input.slices === null) throw badOption(`${owner}: slices`, null, 'an integer from 1 to 60')
  return {
    name,
    algorithm,
    limit: checkedUnits(input.limit, `${owner}: limit`),
    windowMs: parseDuration(input.window, `${owner}: window`),
    ...(input.burst !== undefined && { burst: checkedUnits(input.burst, `${owner}: burst`) }),
    ...(input.slices !== undefined && { slices: input.slices }),
    ...(input.calendar !== undefined && { calendar: compileCalendar(owner, input.calendar, algorithm) }),
    ...(input.maxHoldMs !== undefined && { maxHoldMs: parseTimerMs(input.maxHoldMs, `${owner}: maxHoldMs`) }),
    ...(input.retry !== undefined && { retry: oneOf(`${owner}: retry`, input.retry, ['booked']) }),
    ...(input.unit !== undefined && { unit: headerText(input.unit, `${owner}: unit`) }),
  }
}

/** Returns the algorithm that the options `calendar` and `slices` require, if they are set. */
function impliedBy({ calendar, slices }: PolicyInput): AlgorithmName | undefined {
  if (calendar !== undefined) return CALENDAR_ALGORITHM
  return slices === undefined ? undefined : 'sliding-window'
}

/** Returns `value` if it can be a header string; throws `SLUICE_BAD_NAME` otherwise. */
export function headerText(value: unknown, option: string): string {
  if (typeof value === 'string' && NAME.test(value)) return value
  throw badValue('SLUICE_BAD_NAME', option, value, '1 to 128 printable ASCII characters (an RFC 9651 string)')
}

/**
 * Returns `value` if it is an integer from 1 to 999,999,999,999,999, the largest integer that a header can contain;
 * throws `SLUICE_BAD_LIMIT` otherwise.
 */
export function checkedUnits(value: unknown, option: string): number {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LARGEST_HEADER_INTEGER) {
    return value as number
  }
  throw badValue('SLUICE_BAD_LIMIT', option, value, `an integer from 1 to ${LARGEST_HEADER_INTEGER}`)
}

/** Throws `SLUICE_BAD_POLICY` if an option is set that the algorithm does not support. */
function checkSupport(
  owner: string,
  option: string,
  value: unknown,
  allowed: readonly AlgorithmName[],
  algorithm: AlgorithmName,
): void {
  if (value === undefined || allowed.includes(algorithm)) return
  const expected = `undefined for ${algorithm} (an option of ${allowed.join(' and ')})`
  throw badValue('SLUICE_BAD_POLICY', `${owner}: ${option}`, value, expected)
}
