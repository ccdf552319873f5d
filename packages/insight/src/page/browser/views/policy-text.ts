import type { PolicySnapshot } from '../../../live/report/snapshot.ts'
import { policyAddress } from '../dom/address.ts'
import { element, untrustedText } from '../dom/elements.ts'
import { count, windowText } from '../dom/format.ts'

/** Formats the limit of a policy: `100 requests per minute`. */
export function limitText({ limit, windowMs, unit, calendar }: PolicySnapshot): string {
  const window = calendar === undefined ? windowText(windowMs) : calendarText(calendar)
  const counted = limit === 1 ? unit.replace(/^requests$/, 'request') : unit
  return `${count(limit)} ${counted} per ${window}`
}

/** Describes how many processes enforce the policy, and how many have it in shadow mode. */
export function modeOf({ modes: { enforce, shadow } }: PolicySnapshot): string {
  if (shadow === 0) return enforce === 0 ? 'not active in any process' : 'enforced'
  return enforce === 0
    ? 'shadow (no request is denied)'
    : `enforced in ${processes(enforce)}, shadow in ${processes(shadow)}`
}

export function policyLink(name: string): HTMLElement {
  return element('a', { href: policyAddress(name) }, untrustedText(name))
}

export function processes(number: number): string {
  return number === 1 ? '1 process' : `${count(number)} processes`
}

function calendarText({ per, timeZone, resetAt }: NonNullable<PolicySnapshot['calendar']>): string {
  return `calendar ${per} (${timeZone}${resetAt === undefined ? '' : `, ${resetAt}`})`
}
