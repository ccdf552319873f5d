import { isWithin, MAPPED_IPV4, parseAddress } from '@sluice/limiter-core/http'
import type { AddressRanges } from './address-ranges.ts'
import type { KeyTable } from './key-table.ts'

interface EntryListParts {
  readonly size: number
  readonly v4: AddressRanges
  readonly v6: AddressRanges
  readonly keys: KeyTable
}

/** Addresses, ranges and keys that were read from a list. Never changes: a reload makes another one. */
export class EntryList {
  /** Number of entries, including repeated ones. */
  readonly size: number
  readonly #parts: EntryListParts
  readonly #v4 = new Uint32Array(1)
  readonly #v6 = new Uint32Array(4)

  constructor(parts: EntryListParts) {
    this.size = parts.size
    this.#parts = parts
  }

  /** Bytes of memory. */
  get bytes(): number {
    const { v4, v6, keys } = this.#parts
    return v4.bytes + v6.bytes + keys.bytes
  }

  /**
   * Whether the list has the address, a range with the address, or the key. Any spelling of an address is found; an
   * IPv4-mapped IPv6 address is the IPv4 address. Text that is not an address is in no range.
   */
  has(address: string | undefined, key: string | undefined): boolean {
    if (this.size === 0) return false
    if (key !== undefined && this.#parts.keys.has(key)) return true
    const groups = address === undefined ? undefined : parseAddress(address)?.groups
    if (groups === undefined) return false
    if (groups.length === 2) return this.#hasV4(groups, 0)
    if (isWithin(MAPPED_IPV4, groups)) return this.#hasV4(groups, 6)
    for (let word = 0; word < 4; word++) this.#v6[word] = (groups[word * 2] << 16) | groups[word * 2 + 1]
    return this.#parts.v6.has(this.#v6)
  }

  #hasV4(groups: readonly number[], at: number): boolean {
    this.#v4[0] = (groups[at] << 16) | groups[at + 1]
    return this.#parts.v4.has(this.#v4)
  }
}
