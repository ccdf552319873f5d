import {
  type Address,
  type AddressRange,
  isWithin,
  MAPPED_IPV4,
  parseAddress,
  rangeOf,
  withoutPort,
  writeIPv6,
} from '@sluice/limiter-core/http'

const CIDR = /^([^/]+)(?:\/(\d{1,3}))?$/

/**
 * A set of addresses, given as addresses and CIDR ranges. A range of IPv4 addresses that is written as mapped IPv6
 * (`::ffff:10.0.0.0/104`) is the range of IPv4 addresses.
 */
export class AddressSet {
  /** Part of all addresses that are in the set, of IPv4 and IPv6 together. A part of a set has a smaller share. */
  readonly share: number
  readonly #ranges: readonly AddressRange[]

  /** Throws the error that `bad` returns for text that is not an address or a range. Default: a `RangeError`. */
  constructor(ranges: readonly string[], bad: (range: unknown) => Error = badRange) {
    this.#ranges = ranges.map((text) => {
      const [, base = '', bits] = (typeof text === 'string' && CIDR.exec(text)) || []
      const range = rangeOf(base, bits === undefined ? undefined : Number(bits))
      if (range === undefined) throw bad(text)
      return unmapped(range)
    })
    this.share = this.#ranges.reduce(
      (sum, { masks }) => sum + masks.reduce((part, mask) => part / 2 ** onesOf(mask), 1),
      0,
    )
  }

  has({ groups }: Address): boolean {
    for (const range of this.#ranges) if (isWithin(range, groups)) return true
    return false
  }
}

/** Sockets of both versions report IPv4 addresses as mapped ones, which users copy. */
function unmapped(range: AddressRange): AddressRange {
  const isMapped = isWithin(MAPPED_IPV4, range.groups) && range.masks[5] === MAPPED_IPV4.masks[5]
  return isMapped ? { groups: range.groups.slice(6), masks: range.masks.slice(6) } : range
}

/** Number of leading ones of a 16-bit mask. */
function onesOf(mask: number): number {
  return Math.clz32(~(mask << 16))
}

function badRange(range: unknown): Error {
  return new RangeError(`expected an address or a CIDR range, received ${range}`)
}

/**
 * Reads an address as a socket or a proxy writes it: with or without a port, and IPv4 also as mapped IPv6. Returns
 * undefined for other text.
 */
export function readAddress(text: string | undefined): Address | undefined {
  if (text === undefined) return undefined
  const address = parseAddress(text) ?? parseAddress(withoutPort(text) ?? '')
  return address && isWithin(MAPPED_IPV4, address.groups) ? { version: 4, groups: address.groups.slice(6) } : address
}

/** Returns the canonical text of an address that a socket or a proxy wrote; undefined for other text. */
export function canonical(text: string | undefined): string | undefined {
  const address = readAddress(text?.trim())
  if (address === undefined) return undefined
  const { version, groups } = address
  return version === 6 ? writeIPv6(groups) : groups.flatMap((group) => [group >>> 8, group & 255]).join('.')
}
