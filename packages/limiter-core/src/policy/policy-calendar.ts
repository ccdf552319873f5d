import type { AlgorithmName, PolicyCalendar } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import { oneOf, optionsOf } from '../options/options.ts'

const CALENDAR_OPTIONS: readonly (keyof PolicyCalendar)[] = ['per', 'timeZone', 'anchor', 'carryOver']
const LAST_ANCHOR = { week: 7, month: 31 } as const

/** The default algorithm of a policy with a calendar, and the only allowed one. */
export const CALENDAR_ALGORITHM: AlgorithmName = 'fixed-window'

/**
 * Returns the validated calendar of a policy. Throws `SLUICE_BAD_OPTION` for an invalid calendar, and
 * `SLUICE_BAD_POLICY` for an unknown time zone, an impossible anchor, an invalid carry-over, and any algorithm except
 * `fixed-window`. `owner` starts the message.
 */
export function compileCalendar(owner: string, calendar: PolicyCalendar, algorithm: AlgorithmName): PolicyCalendar {
  const option = `${owner}: calendar`
  const { per, timeZone, anchor, carryOver } = optionsOf(option, calendar, CALENDAR_OPTIONS)
  oneOf(`${option}.per`, per, ['day', 'week', 'month'])
  if (algorithm !== CALENDAR_ALGORITHM) {
    throw badPolicy(`${owner}: algorithm`, algorithm, `${CALENDAR_ALGORITHM}, which a calendar needs`)
  }
  if (!isTimeZone(timeZone)) {
    throw badPolicy(`${option}.timeZone`, timeZone, "a time zone that this process knows, such as 'Europe/Berlin'")
  }
  if (anchor !== undefined) checkAnchor(`${option}.anchor`, per, anchor)
  if (carryOver !== undefined && !(Number.isSafeInteger(carryOver) && carryOver >= 0)) {
    throw badPolicy(`${option}.carryOver`, carryOver, 'a whole number of units, 0 or more')
  }
  return { per, timeZone, ...(anchor !== undefined && { anchor }), ...(carryOver !== undefined && { carryOver }) }
}

function checkAnchor(option: string, per: PolicyCalendar['per'], anchor: unknown): void {
  if (per === 'day') throw badPolicy(option, anchor, 'none for days, which begin at midnight')
  const last = LAST_ANCHOR[per]
  if (Number.isInteger(anchor) && (anchor as number) >= 1 && (anchor as number) <= last) return
  throw badPolicy(option, anchor, `a whole number from 1 to ${last} for a ${per}`)
}

function isTimeZone(value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false
  try {
    Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}

function badPolicy(option: string, got: unknown, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_POLICY', `${option}: expected ${expected}, received ${shown(got, option)}`)
}
