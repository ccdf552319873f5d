import { defaultAlgorithm } from '../algorithms/default-algorithm.ts'
import { algorithms } from '../algorithms/index.ts'
import type { AlgorithmName, Backend, LimitOverrides, Policy, PolicyCalendar } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import { optionalWith, optionsOf } from '../options/options.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { DEFAULT_NAMES } from './default-names.ts'
import { type Mode, parseMode } from './mode.ts'
import { CALENDAR_ALGORITHM, compileCalendar } from './policy-calendar.ts'

/** A policy as a user writes it. */
export interface PolicyInput {
  /** Default: `default`. At most 128 printable ASCII characters, because it appears in headers (RFC 9651 string). */
  readonly name?: string
  /** Whole units from 1 to 999,999,999,999,999, the largest integer that a header can carry. */
  readonly limit: number
  readonly window: Duration
  /**
   * Default: `fixed-window` with a calendar, otherwise `sliding-log` up to a limit of 32, and `sliding-window` above
   * or with `slices`.
   */
  readonly algorithm?: AlgorithmName
  /** token-bucket and gcra: units that fit at once; default: `limit`. */
  readonly burst?: number
  /** sliding-window: slices of the window; default: 1. */
  readonly slices?: number
  /**
   * Calendar of the windows, on backends that support calendars. `window` is the nominal length, used while the
   * backend is unavailable.
   */
  readonly calendar?: PolicyCalendar
  /** Limits of single keys that replace `limit`, as created by `limitOverrides`. */
  readonly overrides?: LimitOverrides
  /** Name of the counted unit in headers and logs. Default: `requests`. */
  readonly unit?: string
  readonly mode?: Mode
  /** Where this policy is counted. Default: the limiter's backend. */
  readonly backend?: Backend
}

/** RFC 9651 section 3.3.1: an integer has at most 15 digits. */
export const LARGEST_HEADER_INTEGER = 999_999_999_999_999
const NAME = /^[\x20-\x7e]{1,128}$/
const WITH_BURST: readonly AlgorithmName[] = ['token-bucket', 'gcra']

export const POLICY_OPTIONS: readonly (keyof PolicyInput)[] = [
  'name',
  'limit',
  'window',
  'algorithm',
  'burst',
  'slices',
  'calendar',
  'overrides',
  'unit',
  'mode',
  'backend',
]

/**
 * Returns the validated data of a policy, or throws a coded error. `unnamed` is the algorithm of a policy that names
 * none.
 */
export function compilePolicy(input: PolicyInput, unnamed: AlgorithmName = defaultAlgorithm(input?.limit, {})): Policy {
  optionsOf('policy', input, POLICY_OPTIONS)
  const name = headerText(input.name === undefined ? DEFAULT_NAMES.rateLimit : input.name, 'name')
  const owner = `policy '${name}'`
  const algorithm = input.algorithm ?? impliedBy(input) ?? unnamed
  if (typeof algorithm !== 'string' || !Object.hasOwn(algorithms, algorithm)) {
    throw new SluiceError(
      'SLUICE_BAD_POLICY',
      `${owner}: algorithm: expected one of ${Object.keys(algorithms).join(', ')}, received ${shown(algorithm, 'algorithm')}`,
    )
  }
  if (input.mode !== undefined) parseMode(input.mode, `${owner}: mode`)
  optionalWith(`${owner}: overrides`, input.overrides, ['limitOf', 'join'], 'what limitOverrides({ … }) answers')
  only(owner, 'burst', input.burst, WITH_BURST, algorithm)
  only(owner, 'slices', input.slices, ['sliding-window'], algorithm)
  return {
    name,
    algorithm,
    limit: wholeUnits(input.limit, `${owner}: limit`),
    windowMs: parseDuration(input.window, `${owner}: window`),
    ...(input.burst !== undefined && { burst: wholeUnits(input.burst, `${owner}: burst`) }),
    ...(input.slices !== undefined && { slices: input.slices }),
    ...(input.calendar !== undefined && { calendar: compileCalendar(owner, input.calendar, algorithm) }),
    ...(input.unit !== undefined && { unit: headerText(input.unit, `${owner}: unit`) }),
  }
}

/** The algorithm that other options of a policy need. */
function impliedBy({ calendar, slices }: PolicyInput): AlgorithmName | undefined {
  if (calendar !== undefined) return CALENDAR_ALGORITHM
  return slices === undefined ? undefined : 'sliding-window'
}

/** Returns `value` if it can be a header string; throws `SLUICE_BAD_NAME` otherwise. */
export function headerText(value: unknown, option: string): string {
  if (typeof value === 'string' && NAME.test(value)) return value
  throw new SluiceError(
    'SLUICE_BAD_NAME',
    `${option}: expected 1 to 128 printable ASCII characters (an RFC 9651 string), received ${shown(value, option)}`,
  )
}

/** `value` where it is a limit that a header can carry; throws `SLUICE_BAD_LIMIT` otherwise. */
export function wholeUnits(value: unknown, option: string): number {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LARGEST_HEADER_INTEGER) {
    return value as number
  }
  throw new SluiceError(
    'SLUICE_BAD_LIMIT',
    `${option}: expected a whole number from 1 to ${LARGEST_HEADER_INTEGER}, received ${shown(value, option)}`,
  )
}

function only(
  owner: string,
  option: string,
  value: unknown,
  allowed: readonly AlgorithmName[],
  algorithm: AlgorithmName,
): void {
  if (value === undefined || allowed.includes(algorithm)) return
  throw new SluiceError(
    'SLUICE_BAD_POLICY',
    `${owner}: ${option}: expected it with ${allowed.join(' or ')} alone, received ${shown(value, option)} for ${algorithm}`,
  )
}
