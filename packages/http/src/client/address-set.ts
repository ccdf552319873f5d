import {
  type Address,
  type AddressRange,
  isWithin,
  MAPPED_IPV4,
  parseAddress,
  rangeOf,
  withoutPort,
} from '@sluice/limiter-core/http'

const CIDR = /^([^/]+)(?:\/(\d{1,3}))?$/

/** A set of addresses, given as addresses and CIDR ranges. */
export class AddressSet {
  readonly #ranges: readonly AddressRange[]

  /** Throws the error that `bad` returns for text that is not an address or a range. Default: a `RangeError`. */
  constructor(ranges: readonly string[], bad: (range: unknown) => Error = badRange) {
    this.#ranges = ranges.map((text) => {
      const [, base = '', bits] = (typeof text === 'string' && CIDR.exec(text)) || []
      const range = rangeOf(base, bits === undefined ? undefined : Number(bits))
      if (range === undefined) throw bad(text)
      return range
    })
  }

  has({ groups }: Address): boolean {
    for (const range of this.#ranges) if (isWithin(range, groups)) return true
    return false
  }
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
