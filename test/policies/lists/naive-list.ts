import { BlockList } from 'node:net'
import type { SeededRandom } from '@sluice/testkit'

/** A list that compares with each entry in turn. An entry is a string, as in a file. */
export class NaiveList {
  readonly #ranges: { readonly version: 4 | 6; readonly first: bigint; readonly last: bigint }[] = []
  readonly #keys = new Set<string>()

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [text, length] = entry.split('/')
      const address = numberOf(text)
      if (!address) {
        this.#keys.add(entry)
        continue
      }
      const total = text.includes(':') ? 128 : 32
      const free = BigInt(total - Number(length ?? total))
      // a range of mapped addresses keeps its number of free bits
      this.#ranges.push({ ...address, first: address.value, last: address.value + (1n << free) - 1n })
    }
  }

  has(address: string | undefined, key: string | undefined): boolean {
    if (key !== undefined && this.#keys.has(key)) return true
    const found = address === undefined ? undefined : numberOf(address)
    if (!found) return false
    return this.#ranges.some(
      ({ version, first, last }) => version === found.version && first <= found.value && found.value <= last,
    )
  }
}

/** Node's own list, a second opinion on ranges. */
export function nodeList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [text, length] = range.split('/')
    const family = text.includes(':') ? 'ipv6' : 'ipv4'
    list.addSubnet(text, Number(length ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return list
}

/** Addresses are written as numbers: mapped addresses as those of IPv4. Only for valid addresses and keys. */
function numberOf(text: string): { readonly version: 4 | 6; readonly value: bigint } | undefined {
  if (/^\d+(\.\d+){3}$/.test(text)) return { version: 4, value: v4Value(text) }
  if (!/^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text)) return undefined
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)
  if (mapped) return { version: 4, value: v4Value(mapped[1]) }
  const [head, tail] = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const zeros = tail ? Array(8 - head.length - tail.length).fill('0') : []
  const groups = [...head, ...zeros, ...(tail ?? [])]
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
  return value >> 32n === 0xffffn ? { version: 4, value: value & 0xffffffffn } : { version: 6, value }
}

const v4Value = (text: string): bigint => text.split('.').reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n)

/** Random addresses that are often near each other, in one of their notations. */
export function randomAddress(random: SeededRandom): string {
  if (random.whole(2) === 0) {
    const octets = [
      random.pick([10, 10, 11, 192, random.whole(256)]),
      random.whole(3),
      random.whole(256),
      random.whole(256),
    ]
    return random.pick(['', '', '::ffff:']) + octets.join('.')
  }
  const groups = [
    0x2001,
    random.pick([0xdb8, 0xdb8, random.whole(65_536)]),
    random.whole(3),
    0,
    0,
    0,
    random.whole(2),
    random.whole(65_536),
  ]
  return random.pick([
    groups.map((group) => group.toString(16)).join(':'),
    groups.map((group) => group.toString(16).padStart(4, '0').toUpperCase()).join(':'),
  ])
}

/** A random range that begins at its first address. */
export function randomRange(random: SeededRandom): string {
  const address = randomAddress(random).replace('::ffff:', '')
  if (!address.includes(':')) {
    const bits = random.pick([8, 12, 16, 20, 24, 24, 28, 31, 32, random.whole(33)])
    const value = (v4Value(address) >> BigInt(32 - bits)) << BigInt(32 - bits)
    const octets = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n)
    // half of them as mapped ranges
    return random.whole(2) === 0 ? `${octets.join('.')}/${bits}` : `::ffff:${octets.join('.')}/${bits + 96}`
  }
  const bits = random.pick([16, 32, 40, 48, 48, 56, 64, 64, 127, 128, 1 + random.whole(128)])
  const value = address.split(':').reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
  const first = (value >> BigInt(128 - bits)) << BigInt(128 - bits)
  const groups = Array.from({ length: 8 }, (_, index) => ((first >> BigInt(112 - index * 16)) & 0xffffn).toString(16))
  return `${groups.join(':')}/${bits}`
}
