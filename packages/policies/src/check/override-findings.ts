import { clientKey } from '@sluice/limiter-core'
import type { PolicyDocument, WrittenOverride } from '../document/policy-document.ts'
import { textsOf } from '../matching/attribute-match.ts'
import { networkOf } from './address-findings.ts'
import type { CheckedPolicy } from './checked-policy.ts'
import type { FindingSeverity, PlacedFinding } from './policy-finding.ts'

/**
 * Returns the overrides that apply to no request, because the key of their policy never has that value. For each policy,
 * one override that applies to several keys is a hint.
 */
export function overrideFindings(
  policies: readonly CheckedPolicy[],
  { overrides = [] }: PolicyDocument,
): PlacedFinding[] {
  const named = new Map(policies.map((policy) => [policy.name, policy]))
  const lastPlaces = new Map(overrides.map((override, index) => [idOf(override), index]))
  const hinted = new Set<CheckedPolicy>()
  return overrides.flatMap((override, index) => {
    const policy = named.get(override.policy)
    if (policy === undefined) return []
    const isRepeated = lastPlaces.get(idOf(override)) !== index
    const reason = isRepeated
      ? { message: `a later override of '${policy.name}' has the same key` }
      : unused(policy, override.key)
    if (reason === undefined || (reason.severity === 'hint' && hinted.has(policy))) return []
    if (reason.severity === 'hint') hinted.add(policy)
    return [
      { rule: 'unused-override', severity: 'warning', policy: policy.name, at: ['overrides', index, 'key'], ...reason },
    ]
  })
}

interface Reason {
  readonly message: string
  readonly severity?: FindingSeverity
}

function idOf({ policy, key }: WrittenOverride): string {
  return JSON.stringify([policy, partsOf(key)])
}

function unused(policy: CheckedPolicy, key: WrittenOverride['key']): Reason | undefined {
  const parts = partsOf(key)
  const { name, key: attributes } = policy
  const form = attributes.length === 1 ? attributes[0] : `[${attributes.join(', ')}]`
  if (parts.length > attributes.length) {
    return {
      message: `a key of '${name}' has the form ${form}, and the key of this override has ${parts.length} parts`,
    }
  }
  const reasons = parts.map((part, index) => unusedPart(policy, attributes[index], part))
  const reason = reasons.find((each) => each !== undefined)
  if (reason !== undefined || parts.length === attributes.length) return reason
  const others = attributes.slice(parts.length).join(' and ')
  const message =
    `a key of '${name}' has the form ${form}: this limit applies to each ${others} of ` +
    `${attributes[0]} '${parts[0]}' separately; write a list of ${attributes.length} values for one key`
  return { message, severity: 'hint' }
}

/** Returns why no request has this value of an attribute, or undefined if a request may have it. */
function unusedPart({ name, written }: CheckedPolicy, attribute: string, value: string): Reason | undefined {
  const { match = {} } = written
  const matched = Object.hasOwn(match, attribute) ? textsOf(match[attribute]) : undefined
  if (matched !== undefined && !matched.includes(value)) {
    return {
      message: `'${name}' matches only requests whose ${attribute} is ${matched.join(' or ')}, never '${value}'`,
    }
  }
  if (attribute !== 'address' || clientKey(value) === value || isNetwork(value)) return undefined
  const network = networkOf(value)
  const counted = network === undefined ? "an address such as '203.0.113.7' or '2001:db8::/56'" : `'${network}'`
  return { message: `'${name}' counts addresses, and no client has the key '${value}': expected ${counted}` }
}

/** Whether the value is a network that a client is counted by. */
function isNetwork(value: string): boolean {
  const [address, bits] = value.split('/')
  return bits === '56' && networkOf(address) === value
}

/** Returns the values of the first attributes of a key: one, or a list of them. */
function partsOf(key: string | readonly string[]): readonly string[] {
  return typeof key === 'string' ? [key] : key
}
