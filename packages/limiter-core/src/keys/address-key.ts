import { badOption } from '../errors/bad-option.ts'
import { optionsOf } from '../options/options.ts'
import { parseAddress, readIPv4, readIPv6, withoutPort, writeIPv6 } from './address.ts'

export interface AddressOptions {
  /**
   * Leading bits of an IPv6 address that identify a client, from 32 to 128. Default: 56. Providers assign /64, /60,
   * /56 and /48: a longer prefix lets one customer be many clients, a shorter one merges customers.
   */
  readonly ipv6Prefix?: number
  /**
   * Prefixes under which a translator (NAT64, SIIT-DC) shows IPv4 clients, by RFC 6052: `/32`, `/40`, `/48`, `/56`,
   * `/64` or `/96`. Default: `['64:ff9b::/96']`; without it all IPv4 clients behind one translator are one client.
   */
  readonly embeddedIPv4Prefixes?: readonly string[]
}

/** Address options, checked once and made quick to apply. */
export interface AddressRules {
  readonly masks: readonly number[]
  readonly suffix: string
  readonly embeddings: readonly Embedding[]
}

/** A prefix whose addresses contain an IPv4 address in four of their 16 octets. */
interface Embedding {
  readonly masks: readonly number[]
  readonly groups: readonly number[]
  readonly octets: readonly number[]
}

const ALL: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7]
const MAPPED: Embedding = { masks: masksOf(96), groups: [0, 0, 0, 0, 0, 0xffff, 0, 0], octets: [12, 13, 14, 15] }
const COMPATIBLE: Pick<Embedding, 'masks' | 'groups'> = { masks: masksOf(96), groups: ALL.map(() => 0) }
const SIX_TO_FOUR: Embedding = { masks: masksOf(16), groups: [0x2002, 0, 0, 0, 0, 0, 0, 0], octets: [2, 3, 4, 5] }
const WELL_KNOWN_NAT64 = '64:ff9b::/96'
const CIDR = /^(.+)\/(32|40|48|56|64|96)$/

/** Throws `SLUICE_BAD_OPTION` for an invalid option. */
export function compileAddressOptions(options: AddressOptions = {}): AddressRules {
  optionsOf('address options', options, ['ipv6Prefix', 'embeddedIPv4Prefixes'])
  const { ipv6Prefix = 56, embeddedIPv4Prefixes = [WELL_KNOWN_NAT64] } = options
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 32 || ipv6Prefix > 128) {
    throw badOption('ipv6Prefix', ipv6Prefix, 'a whole number from 32 to 128')
  }
  if (!Array.isArray(embeddedIPv4Prefixes)) {
    throw badOption('embeddedIPv4Prefixes', embeddedIPv4Prefixes, `an array like ['${WELL_KNOWN_NAT64}']`)
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

function compilePrefix(text: unknown): { bits: number; embedding: Embedding } {
  const [, base, length] = (typeof text === 'string' && CIDR.exec(text)) || []
  const groups = parseAddress(base ?? '')?.groups
  const bits = Number(length)
  const masks = masksOf(bits)
  if (groups?.length !== 8 || ALL.some((i) => groups[i] !== (groups[i] & masks[i]))) {
    const expected = `an IPv6 prefix of /32, /40, /48, /56, /64 or /96 with no bits behind it, like '${WELL_KNOWN_NAT64}'`
    throw badOption('embeddedIPv4Prefixes', text, expected)
  }
  const start = bits / 8
  if (bits === 96) return { bits, embedding: { masks, groups, octets: [12, 13, 14, 15] } }
  // RFC 6052 reserves octet 8 ("u") as zero and skips it; no translator creates other addresses
  const octets = [0, 1, 2, 3].map((i) => (start + i < 8 ? start + i : start + i + 1))
  return { bits, embedding: { masks: masks.with(4, masks[4] | 0xff00), groups, octets } }
}

function masksOf(bits: number): number[] {
  return ALL.map((i) => (0xffff << (16 - Math.min(16, Math.max(0, bits - i * 16)))) & 0xffff)
}

/**
 * Returns one string per client, however its address is written: IPv4 in dotted form, also if it is embedded in IPv6
 * (mapped, NAT64, 6to4); `::1`, `::` and others of `::/96` unchanged; any other IPv6 address as its prefix,
 * `2001:db8:1:200::/56`. Undefined if the string is not an address.
 */
export function addressKey(text: string, rules: AddressRules): string | undefined {
  // strict dotted notation is already canonical
  if (readIPv4(text) >= 0) return text
  const groups = readIPv6(text)
  if (groups === undefined) return undefined
  if (isLocal(groups)) return writeIPv6(groups)
  for (const embedding of rules.embeddings) {
    if (holds(embedding, groups)) return embedding.octets.map((octet) => octetAt(groups, octet)).join('.')
  }
  // once IPv4-compatible: under a prefix all of them would be one client
  if (holds(COMPATIBLE, groups)) return writeIPv6(groups)
  for (let i = 0; i < 8; i++) groups[i] &= rules.masks[i]
  return writeIPv6(groups) + rules.suffix
}

/**
 * Returns the key of an address that may have a port, as some proxies write it: `192.0.2.1:5678`,
 * `[2001:db8::1]:5678`.
 */
export function addressKeyOfPeer(text: unknown, rules: AddressRules): string | undefined {
  if (typeof text !== 'string') return undefined
  const key = addressKey(text, rules)
  if (key !== undefined) return key
  const bare = withoutPort(text)
  return bare === undefined ? undefined : addressKey(bare, rules)
}

/** Whether a string is a full IPv6 address, of which a client can use any number. */
export function isWholeIPv6(text: string, rules: AddressRules): boolean {
  return text.includes(':') && addressKey(text, rules)?.endsWith(rules.suffix) === true
}

function isLocal(groups: readonly number[]): boolean {
  for (let i = 0; i < 7; i++) if (groups[i] !== 0) return false
  return groups[7] <= 1
}

function holds(embedding: Pick<Embedding, 'masks' | 'groups'>, groups: readonly number[]): boolean {
  for (let i = 0; i < 8; i++) if ((groups[i] & embedding.masks[i]) !== embedding.groups[i]) return false
  return true
}

function octetAt(groups: readonly number[], octet: number): number {
  const group = groups[octet >> 1]
  return octet & 1 ? group & 0xff : group >> 8
}
