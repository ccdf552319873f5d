import { isWithin, MAPPED_IPV4, parseAddress, writeIPv6 } from '@sluice/limiter-core/http'

/** The addresses whose first `bits` bits are those of `groups`: 16-bit groups, two for IPv4 and eight for IPv6. */
export interface RangeEntry {
  readonly groups: readonly number[]
  readonly bits: number
}

/** Entry of a list: a range of addresses (a single address has all bits), or a key. */
export type ListEntry = RangeEntry | { readonly key: string }

/** Most characters of an entry. */
export const MAX_ENTRY_LENGTH = 1_024
/** Most characters of an entry in a message. */
const MAX_SHOWN = 80

const PREFIX_LENGTH = /^(0|[1-9]\d{0,2})$/
/** Four numbers or asterisks with dots, a short IPv4 range, an IPv6 address, or any of them with a port or brackets. */
const LIKE_ADDRESS = /^(\d+(\.(\d+|\*)){3}(?![\w.])|\d+(\.\d+){0,2}\/\d+$|\[?[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*(?!\w))/i
/** Control characters, characters that are not UTF-8 in a file, and half of a surrogate pair. */
const NOT_TEXT = /[\p{Cc}\p{Cs}\ufffd]/u

/**
 * Parses an entry, without spaces around it. An IPv4-mapped IPv6 address or range becomes that of IPv4. Returns what is
 * wrong as a string if the entry is neither an address, a range nor a key; text that looks like an address but is not
 * one is not a key.
 */
export function parseEntry(text: string): ListEntry | string {
  const slash = text.indexOf('/')
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash))
  if (address) return rangeOf(address.groups, slash < 0 ? undefined : text.slice(slash + 1))
  if (text.length > MAX_ENTRY_LENGTH) {
    return `expected an entry of at most ${MAX_ENTRY_LENGTH} characters, received ${text.length}`
  }
  if (LIKE_ADDRESS.test(text)) {
    return `expected an address such as 192.0.2.1 or 2001:db8::1, or a range such as 192.0.2.0/24, received '${shown(text)}'`
  }
  if (text === '' || NOT_TEXT.test(text)) return 'expected an address, a range or a key in UTF-8, received another text'
  return { key: text }
}

/** Returns why an entry is probably a mistake although it is valid, or undefined. */
export function concernAbout(entry: ListEntry): string | undefined {
  if ('key' in entry) return undefined
  const { groups, bits } = entry
  const isV4 = groups.length === 2
  if (bits >= (isV4 ? SHORTEST_V4 : SHORTEST_V6)) return undefined
  const all = bits === 0 ? 'all' : `1 of ${2 ** bits} of all`
  return `the range ${rangeText(groups, bits)} has ${all} IPv${isV4 ? 4 : 6} addresses`
}

/** Shorter prefixes than these are probably mistakes: no network is so large. */
const SHORTEST_V4 = 8
const SHORTEST_V6 = 7

function rangeOf(groups: readonly number[], length: string | undefined): ListEntry | string {
  const total = groups.length * 16
  const bits = length === undefined ? total : PREFIX_LENGTH.test(length) ? Number(length) : -1
  if (bits < 0 || bits > total) return `expected a prefix length from 0 to ${total}, received '${shown(`${length}`)}'`
  if (bits < total) {
    const network = groups.map((group, index) => group & maskOf(bits - index * 16))
    if (network.some((group, index) => group !== groups[index])) {
      return `expected a range that begins at its first address, such as ${rangeText(network, bits)}, received an address within it`
    }
  }
  return isWithin(MAPPED_IPV4, groups) && bits >= 96 ? { groups: groups.slice(6), bits: bits - 96 } : { groups, bits }
}

/** Returns a 16-bit group with this many leading ones; numbers below 0 and above 16 count as 0 and 16. */
function maskOf(ones: number): number {
  return (0xffff << (16 - Math.min(16, Math.max(0, ones)))) & 0xffff
}

function rangeText(groups: readonly number[], bits: number): string {
  const address =
    groups.length === 8 ? writeIPv6(groups) : groups.flatMap((group) => [group >>> 8, group & 255]).join('.')
  return `${address}/${bits}`
}

/** Unlike options, a list has no secrets: its entries are shown. */
function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
