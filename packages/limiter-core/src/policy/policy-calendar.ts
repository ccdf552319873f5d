import type { AlgorithmName, PolicyCalendar } from '../contracts.ts'
import { badValue } from '../errors/bad-option.ts'
import type { SluiceError } from '../errors/errors.ts'
import { oneOf, optionalFunction, optionsOf } from '../options/options.ts'

const CALENDAR_OPTIONS = ['per', 'timeZone', 'zoneOf', 'resetAt', 'anchor', 'carryOver'] as const
const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/
/** Abbreviations that `Intl` accepts although IANA has no such zones: `BST` would be the time of Dhaka. */
const NOT_IANA = /^(A[CEGRS]|[BIN][ES]|C[ANST]|E[AC]|MI|P[LNRS]|[JSV]S)T$/i
const LAST_ANCHOR = { week: 7, month: 31 } as const

/** The only algorithm that a policy with a calendar may have, and its default. */
export const CALENDAR_ALGORITHM: AlgorithmName = 'fixed-window'

/**
 * Returns the validated calendar of a policy. Throws `SLUICE_BAD_OPTION` for an unknown option or `per`, and
 * `SLUICE_BAD_POLICY` for an unknown time zone, an invalid time, anchor or carry-over, and any algorithm except
 * `fixed-window`. `owner` is the start of the message.
 */
export function compileCalendar(owner: string, calendar: PolicyCalendar, algorithm: AlgorithmName): PolicyCalendar {
  const option = `${owner}: calendar`
  const given = optionsOf<PolicyCalendar>(option, calendar, CALENDAR_OPTIONS)
  const { per, timeZone, zoneOf, resetAt, anchor, carryOver } = given
  oneOf(`${option}.per`, per, ['day', 'week', 'month'])
  if (algorithm !== CALENDAR_ALGORITHM) {
    throw badPolicy(`${owner}: algorithm`, algorithm, `${CALENDAR_ALGORITHM} because the policy has a calendar`)
  }
  if (!isTimeZone(timeZone)) {
    throw badPolicy(`${option}.timeZone`, timeZone, "an IANA time zone such as 'Europe/Berlin'")
  }
  optionalFunction(`${option}.zoneOf`, zoneOf)
  if (resetAt !== undefined && !(typeof resetAt === 'string' && TIME_OF_DAY.test(resetAt))) {
    throw badPolicy(`${option}.resetAt`, resetAt, "a local time such as '06:00'")
  }
  if (anchor !== undefined) checkAnchor(`${option}.anchor`, per, anchor)
  if (carryOver !== undefined && !(Number.isSafeInteger(carryOver) && carryOver >= 0)) {
    throw badPolicy(`${option}.carryOver`, carryOver, 'an integer of at least 0')
  }
  return { ...given }
}

function checkAnchor(option: string, per: PolicyCalendar['per'], anchor: unknown): void {
  if (per === 'day') throw badPolicy(option, anchor, 'undefined for a day, which starts at `resetAt`')
  const last = LAST_ANCHOR[per]
  if (Number.isInteger(anchor) && (anchor as number) >= 1 && (anchor as number) <= last) return
  throw badPolicy(option, anchor, `an integer from 1 to ${last} for a ${per}`)
}

/** Whether a value is the name of a time zone that this process supports. */
export function isTimeZone(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || NOT_IANA.test(value)) return false
  try {
    Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}

function badPolicy(option: string, received: unknown, expected: string): SluiceError {
  return badValue('SLUICE_BAD_POLICY', option, received, expected)
}
