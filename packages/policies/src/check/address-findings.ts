import { clientKey } from '@sluice/limiter-core'
import type { PolicyDocument } from '../document/policy-document.ts'
import type { CheckedPolicy } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'

/** Words of a name that stand for an address of a client. */
const ADDRESS = /^(ip|ipv6|ip6|ipaddr|ipaddress|remoteaddr|remoteaddress|clientaddr|clientaddress|forwarded)$/
/** Words that make another word mean the address of a client: `remote_address`, `client-addr`. */
const PEER = /^(client|remote|peer|socket|source|sender|visitor|user)$/
/** Words that make a name mean something coarser or else than one address. */
const COARSER =
  /^(prefix|network|net|subnet|range|cidr|country|region|city|asn|hash|hashed|version|proto|host|port|location)$/

/** Returns the keys and lists that contain full IPv6 addresses. A client can use many full addresses. */
export function addressFindings(policies: readonly CheckedPolicy[], { lists }: PolicyDocument): PlacedFinding[] {
  const block = lists?.block
  return [...policies.flatMap(addressKeys), ...(Array.isArray(block) ? blockedAddresses(block) : [])]
}

function addressKeys({ name, key, at, written }: CheckedPolicy): PlacedFinding[] {
  return key.filter(isAddress).map((attribute) => ({
    ...{ rule: 'full-address-key', severity: 'warning', policy: name },
    at: Array.isArray(written.key) ? [...at, 'key', key.indexOf(attribute)] : [...at, 'key'],
    message:
      `'${attribute}' is probably a full address: an IPv6 client can use a new one for each request; ` +
      "use 'address', which counts the network of the client (/56)",
  }))
}

function blockedAddresses(block: readonly string[]): PlacedFinding[] {
  return block.flatMap((entry, index) => {
    const network = networkOf(entry)
    if (network === undefined) return []
    const message = `'${entry}' is one address of an IPv6 client, which can use another one; its network is '${network}'`
    return [{ rule: 'full-address-key', severity: 'hint', at: ['lists', 'block', index], message }]
  })
}

/** Returns the network that an IPv6 address is counted by; undefined for other strings. */
export function networkOf(text: string): string | undefined {
  const key = clientKey(text)
  return text.includes(':') && key.endsWith('/56') ? key : undefined
}

/** Whether the name of an attribute stands for an address, except `address` itself, which is counted by network. */
function isAddress(attribute: string): boolean {
  const words = attribute
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
  if (words.some((word) => COARSER.test(word))) return false
  const ofPeer = words.some((word, index) => /^addr(ess)?$/.test(word) && PEER.test(words[index - 1] ?? ''))
  return ofPeer || words.some((word) => ADDRESS.test(word))
}
