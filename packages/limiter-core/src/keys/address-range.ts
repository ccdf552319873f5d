import { parseAddress } from './address.ts'

/** The addresses with the same leading bits, as 16-bit groups: two for IPv4, eight for IPv6. */
export interface AddressRange {
  readonly groups: readonly number[]
  readonly masks: readonly number[]
}

/** IPv6 addresses that represent IPv4 addresses, as a socket of both versions reports them. */
export const MAPPED_IPV4: AddressRange = { groups: [0, 0, 0, 0, 0, 0xffff, 0, 0], masks: masksOf(96) }

/**
 * Returns the range of addresses whose first `bits` bits are those of `base`. Default: the address alone. Returns
 * undefined if `base` is not an address, has fewer bits, or has other bits that are not 0.
 */
export function rangeOf(base: string, bits?: number): AddressRange | undefined {
  const groups = parseAddress(base)?.groups
  if (groups === undefined || (bits ?? 0) > groups.length * 16) return undefined
  const masks = masksOf(bits ?? 128).slice(0, groups.length)
  return groups.some((group, i) => (group & masks[i]) !== group) ? undefined : { groups, masks }
}

/** Whether an address, given as its groups, is in the range. */
export function isWithin(range: AddressRange, groups: readonly number[]): boolean {
  if (range.groups.length !== groups.length) return false
  for (let i = 0; i < groups.length; i++) if ((groups[i] & range.masks[i]) !== range.groups[i]) return false
  return true
}

/** Returns the masks of the first `bits` bits of eight groups. */
export function masksOf(bits: number): number[] {
  return Array.from({ length: 8 }, (_, i) => (0xffff << (16 - Math.min(16, Math.max(0, bits - i * 16)))) & 0xffff)
}
