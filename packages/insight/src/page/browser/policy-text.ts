import type { PolicySnapshot } from '../../live/snapshot.ts'
import { policyAddress } from './address.ts'
import { element, foreign } from './elements.ts'
import { count, windowText } from './format.ts'

/** `100 requests per minute`. */
export function promiseOf({ limit, windowMs, unit, calendar }: PolicySnapshot): string {
  const window =
    calendar === undefined ? windowText(windowMs) : `${calendar.per} of the calendar in ${calendar.timeZone}`
  const counted = limit === 1 ? unit.replace(/^requests$/, 'request') : unit
  return `${count(limit)} ${counted} per ${window}`
}

/** Describes how many processes enforce the policy, and how many have it in shadow mode. */
export function modeOf({ modes: { enforce, shadow } }: PolicySnapshot): string {
  if (shadow === 0) return enforce === 0 ? 'seen in no process now' : 'enforced'
  return enforce === 0
    ? 'in shadow: nobody is denied'
    : `enforced by ${processes(enforce)}, in shadow in ${processes(shadow)}`
}

export function policyLink(name: string): HTMLElement {
  return element('a', { href: policyAddress(name) }, foreign(name))
}

export function processes(number: number): string {
  return number === 1 ? '1 process' : `${count(number)} processes`
}
