import { badOption } from '../errors/bad-option.ts'
import { integerFrom, optionsOf } from '../options/options.ts'
import { readIPv4, readIPv6, withoutPort, writeIPv6 } from './address.ts'
import { type AddressRange, isWithin, MAPPED_IPV4, masksOf, rangeOf } from './address-range.ts'

export interface AddressOptions {
  /**
   * Number of leading bits of an IPv6 address that identify a client, from 32 to 128. Default: 56. Providers assign a
   * /64, /60, /56 or /48 to a customer: a longer prefix counts one customer as many clients, a shorter prefix counts
   * many customers as one client.
   */
  readonly ipv6Prefix?: number | undefined
  /**
   * IPv6 prefixes (RFC 6052: `/32`, `/40`, `/48`, `/56`, `/64` or `/96`) under which a translator (NAT64, SIIT-DC)
   * represents IPv4 clients. Default: `['64:ff9b::/96']`. IPv4 clients under a prefix that is not listed share one key
   * per IPv6 prefix.
   */
  readonly embeddedIPv4Prefixes?: readonly string[] | undefined
}

/** Validated and precomputed address options. */
export interface AddressRules {
  readonly masks: readonly number[]
  readonly suffix: string
  readonly embeddings: readonly Embedding[]
}

/** An IPv6 prefix whose addresses contain an IPv4 address in four of their 16 octets. */
interface Embedding extends AddressRange {
  readonly octets: readonly number[]
}

const MAPPED: Embedding = { ...MAPPED_IPV4, octets: [12, 13, 14, 15] }
const COMPATIBLE: AddressRange = { masks: masksOf(96), groups: Array(8).fill(0) }
const SIX_TO_FOUR: Embedding = { masks: masksOf(16), groups: [0x2002, 0, 0, 0, 0, 0, 0, 0], octets: [2, 3, 4, 5] }
/** All machines of a link share the same prefix. */
const LINK_LOCAL: AddressRange = { masks: masksOf(10), groups: [0xfe80, 0, 0, 0, 0, 0, 0, 0] }
const WELL_KNOWN_NAT64 = '64:ff9b::/96'
const CIDR = /^(.+)\/(32|40|48|56|64|96)$/

/** Returns the validated rules. Throws `SLUICE_BAD_OPTION` for an invalid option. */
export function compileAddressOptions(options: AddressOptions = {}): AddressRules {
  optionsOf('address options', options, ['ipv6Prefix', 'embeddedIPv4Prefixes'])
  const { ipv6Prefix = 56, embeddedIPv4Prefixes = [WELL_KNOWN_NAT64] } = options
  integerFrom('ipv6Prefix', ipv6Prefix, 32, 128)
  if (!Array.isArray(embeddedIPv4Prefixes)) {
    throw badOption('embeddedIPv4Prefixes', embeddedIPv4Prefixes, `an array of prefixes such as '${WELL_KNOWN_NAT64}'`)
  }
  const prefixes = embeddedIPv4Prefixes.map(compilePrefix)
  // the longer of two overlapping prefixes is more specific
  prefixes.sort((a, b) => b.bits - a.bits)
  return {
    masks: masksOf(ipv6Prefix),
    suffix: ipv6Prefix === 128 ? '' : `/${ipv6Prefix}`,
    embeddings: [MAPPED, ...prefixes.map((prefix) => prefix.embedding), SIX_TO_FOUR],
  }
}

const WITHOUT_OPTIONS: AddressOptions = {}
const compiled = new WeakMap<AddressOptions, AddressRules>()

/** Returns the validated rules, which are compiled once for each object. Throws `SLUICE_BAD_OPTION`. */
export function addressRules(options: AddressOptions = WITHOUT_OPTIONS): AddressRules {
  const known = compiled.get(options)
  if (known) return known
  const rules = compileAddressOptions(options)
  compiled.set(options, rules)
  return rules
}

function compilePrefix(text: unknown): { bits: number; embedding: Embedding } {
  const [, base = '', length] = (typeof text === 'string' && CIDR.exec(text)) || []
  const bits = Number(length)
  const range = rangeOf(base, bits)
  if (range?.groups.length !== 8) {
    const shape = 'an IPv6 prefix of /32, /40, /48, /56, /64 or /96 whose other bits are 0'
    throw badOption('embeddedIPv4Prefixes', text, `${shape}, such as '${WELL_KNOWN_NAT64}'`)
  }
  const start = bits / 8
  if (bits === 96) return { bits, embedding: { ...range, octets: [12, 13, 14, 15] } }
  // RFC 6052 reserves octet 8 ("u") as zero and skips it; no translator creates other addresses
  const octets = [0, 1, 2, 3].map((i) => (start + i < 8 ? start + i : start + i + 1))
  return { bits, embedding: { masks: range.masks.with(4, range.masks[4] | 0xff00), groups: range.groups, octets } }
}

/**
 * Returns the same key for all spellings of an address: an IPv4 address in dotted form, even if it is embedded in an
 * IPv6 address (mapped, NAT64, 6to4); an address of `::/96`, such as `::1`, and a link-local address, in canonical form
 * and without a zone; any other IPv6 address as its prefix, such as `2001:db8:1:200::/56`. Returns undefined if `text`
 * is not an address.
 */
export function addressKey(text: string, rules: AddressRules): string | undefined {
  // strict dotted notation is already canonical
  if (readIPv4(text) >= 0) return text
  const groups = readIPv6(text)
  if (groups === undefined) return undefined
  if (isLoopback(groups) || isWithin(LINK_LOCAL, groups)) return writeIPv6(groups)
  for (const embedding of rules.embeddings) {
    if (isWithin(embedding, groups)) return embedding.octets.map((octet) => octetAt(groups, octet)).join('.')
  }
  // deprecated IPv4-compatible addresses: their prefix would be the same for all of them
  if (isWithin(COMPATIBLE, groups)) return writeIPv6(groups)
  for (let i = 0; i < 8; i++) groups[i] &= rules.masks[i]
  return writeIPv6(groups) + rules.suffix
}

/** Like `addressKey`, for an address with a port, which some proxies add: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
export function addressKeyOfPeer(text: unknown, rules: AddressRules): string | undefined {
  if (typeof text !== 'string') return undefined
  const key = addressKey(text, rules)
  if (key !== undefined) return key
  const bare = withoutPort(text)
  return bare === undefined ? undefined : addressKey(bare, rules)
}

/** Whether a string is a full IPv6 address instead of a prefix. One client can use many full addresses. */
export function isWholeIPv6(text: string): boolean {
  return text.includes(':') && addressKey(text, addressRules())?.endsWith(addressRules().suffix) === true
}

function isLoopback(groups: readonly number[]): boolean {
  for (let i = 0; i < 7; i++) if (groups[i] !== 0) return false
  return groups[7] <= 1
}

function octetAt(groups: readonly number[], octet: number): number {
  const group = groups[octet >> 1]
  return octet & 1 ? group & 0xff : group >> 8
}
