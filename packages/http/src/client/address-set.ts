import { type Address, parseAddress, withoutPort } from '@sluice/limiter-core/http'

interface Range {
  readonly groups: readonly number[]
  readonly masks: readonly number[]
}

const CIDR = /^([^/]+)(?:\/(\d{1,3}))?$/

/** A set of addresses, given as addresses and CIDR ranges. */
export class AddressSet {
  readonly #ranges: readonly Range[]

  /** Throws the error that `bad` returns for text that is not an address or a range. */
  constructor(ranges: readonly string[], bad: (range: unknown) => Error) {
    this.#ranges = ranges.map((text) => {
      const range = rangeOf(text)
      if (range === undefined) throw bad(text)
      return range
    })
  }

  has({ groups }: Address): boolean {
    for (const range of this.#ranges) {
      if (range.groups.length === groups.length && isWithin(groups, range)) return true
    }
    return false
  }
}

function isWithin(groups: readonly number[], range: Range): boolean {
  for (let i = 0; i < groups.length; i++) if ((groups[i] & range.masks[i]) !== range.groups[i]) return false
  return true
}

/** Returns undefined unless the text is an address, or a range whose other bits are 0. */
function rangeOf(text: unknown): Range | undefined {
  const [, base = '', length] = (typeof text === 'string' && CIDR.exec(text)) || []
  const groups = parseAddress(base)?.groups
  if (groups === undefined) return undefined
  const bits = length === undefined ? groups.length * 16 : Number(length)
  if (bits > groups.length * 16) return undefined
  const masks = groups.map((_, i) => (0xffff << (16 - Math.min(16, Math.max(0, bits - i * 16)))) & 0xffff)
  return groups.some((group, i) => (group & masks[i]) !== group) ? undefined : { groups, masks }
}

/**
 * Reads an address as a socket or a proxy writes it: with or without a port, and IPv4 also as mapped IPv6. Returns
 * undefined for other text.
 */
export function readAddress(text: string | undefined): Address | undefined {
  if (text === undefined) return undefined
  const address = parseAddress(text) ?? parseAddress(withoutPort(text) ?? '')
  return address && isMapped(address) ? { version: 4, groups: address.groups.slice(6) } : address
}

function isMapped({ groups }: Address): boolean {
  return groups.length === 8 && groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
}
