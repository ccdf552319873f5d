import { type AddressRange, badOption, clientKey, isWithin, parseAddress, rangeOf } from '@sluice/limiter-core/http'

/** Addresses that count as one client. */
export interface Network extends AddressRange {
  /** As written in the options. */
  readonly name: string
}

const CIDR = /^([^/]+)(?:\/(\d{1,3}))?$/
/** IPv6 addresses are compared by the prefix that `clientKey` returns. */
const LONGEST_IPV6_PREFIX = 56

/** Returns ranges of addresses. Throws `SLUICE_BAD_OPTION`. */
export function compileNetworks(ranges: readonly string[]): readonly Network[] {
  if (!Array.isArray(ranges)) throw badOption('protectLogin: networks', ranges, 'a list of CIDR ranges')
  return Array.from(ranges, (text: unknown) => {
    const [name = '', base = '', bits] = (typeof text === 'string' && CIDR.exec(text)) || []
    const range = rangeOf(base, bits === undefined ? undefined : Number(bits))
    const isIPv6 = range?.groups.length === 8
    if (range && !(isIPv6 && !(Number(bits) <= LONGEST_IPV6_PREFIX))) return { ...range, name }
    throw badOption('protectLogin: networks', text, "CIDR ranges such as '203.0.113.0/24' or '2001:db8::/32'")
  })
}

/** Returns the name of the first network with an address; undefined if there is none. */
export function networkOf(networks: readonly Network[], address: string | undefined): string | undefined {
  if (networks.length === 0) return undefined
  const groups = parseAddress(clientKey(address).split('/')[0])?.groups
  return groups && networks.find((network) => isWithin(network, groups))?.name
}
