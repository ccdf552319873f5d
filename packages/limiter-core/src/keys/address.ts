/** An address as 16-bit groups in network order: two for IPv4, eight for IPv6. */
export interface Address {
  readonly version: 4 | 6
  readonly groups: readonly number[]
}

const DOT = 46
const ZERO = 48
const NINE = 57

/** A zone of an IPv6 address: an interface name of up to 15 characters on Linux, a number on Windows. */
const ZONE = /^[\w.:~-]{1,64}$/
/** Length of `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255%` and the longest zone. Longer strings are not parsed. */
const LONGEST_TEXT = 46 + 64

/**
 * Parses an IPv4 or IPv6 address in any standard notation and drops its zone (`%eth0`). Returns undefined for
 * everything else, including ports, brackets, spaces and octal, hexadecimal or short IPv4 forms: clients could evade a
 * limit if several spellings of one address were accepted.
 */
export function parseAddress(text: string): Address | undefined {
  const bits = readIPv4(text)
  if (bits >= 0) return { version: 4, groups: [bits >>> 16, bits & 0xffff] }
  const groups = readIPv6(text)
  return groups && { version: 6, groups }
}

const IPV4_AND_PORT = /^([\d.]{7,15}):(\d{1,5})$/
const IPV6_AND_PORT = /^\[([^\]]+)\](?::(\d{1,5}))?$/
const LARGEST_PORT = 65_535

/** Returns the address without its port or brackets; undefined for strings without a port or brackets. */
export function withoutPort(text: string): string | undefined {
  const quad = IPV4_AND_PORT.exec(text)
  if (quad) return Number(quad[2]) <= LARGEST_PORT && readIPv4(quad[1]) >= 0 ? quad[1] : undefined
  const [, bare, port = '0'] = (text.length <= LONGEST_TEXT + 8 && IPV6_AND_PORT.exec(text)) || []
  return bare !== undefined && Number(port) <= LARGEST_PORT && readIPv6(bare) ? bare : undefined
}

/** Returns an IPv4 address as a 32-bit integer; -1 if the string is not four decimal octets without leading zeros. */
export function readIPv4(text: string): number {
  if (text.length < 7 || text.length > 15) return -1
  let bits = 0
  let dots = 0
  // -1 until the first digit of an octet
  let octet = -1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === DOT && octet >= 0) {
      bits = bits * 256 + octet
      dots++
      octet = -1
      continue
    }
    const grown = Math.max(0, octet) * 10 + code - ZERO
    if (code < ZERO || code > NINE || octet === 0 || grown > 255) return -1
    octet = grown
  }
  return dots === 3 && octet >= 0 ? bits * 256 + octet : -1
}

/** Returns the eight groups of an IPv6 address; undefined for other strings. */
export function readIPv6(text: string): number[] | undefined {
  const bare = withoutZone(text)
  if (bare === undefined) return undefined
  const gap = bare.indexOf('::')
  if (gap < 0) {
    const groups = readGroups(bare, true)
    return groups?.length === 8 ? groups : undefined
  }
  const head = readGroups(bare.slice(0, gap), false)
  const tail = readGroups(bare.slice(gap + 2), true)
  // `::` stands for at least one group
  if (!head || !tail || head.length + tail.length > 7) return undefined
  while (head.length + tail.length < 8) head.push(0)
  for (const group of tail) head.push(group)
  return head
}

function withoutZone(text: string): string | undefined {
  if (text.length > LONGEST_TEXT) return undefined
  const percent = text.indexOf('%')
  if (percent < 0) return text
  return ZONE.test(text.slice(percent + 1)) ? text.slice(0, percent) : undefined
}

// parses groups separated by single colons; a second `::` appears as an empty group, which is invalid
function readGroups(text: string, mayEndDotted: boolean): number[] | undefined {
  const groups: number[] = []
  let start = 0
  while (text !== '' && start <= text.length) {
    const colon = text.indexOf(':', start)
    const end = colon < 0 ? text.length : colon
    const group = readGroup(text, start, end)
    if (group < 0) return mayEndDotted && colon < 0 ? withDottedEnd(groups, text.slice(start)) : undefined
    groups.push(group)
    start = end + 1
  }
  return groups
}

function readGroup(text: string, start: number, end: number): number {
  if (end === start || end - start > 4) return -1
  let group = 0
  for (let i = start; i < end; i++) {
    const digit = hexDigit(text.charCodeAt(i))
    if (digit < 0) return -1
    group = group * 16 + digit
  }
  return group
}

function withDottedEnd(groups: number[], quad: string): number[] | undefined {
  const bits = readIPv4(quad)
  if (bits < 0) return undefined
  groups.push(bits >>> 16, bits & 0xffff)
  return groups
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

/** Formats eight groups by RFC 5952: lower case, no leading zeros, `::` for the first longest run of zeros. */
export function writeIPv6(groups: readonly number[]): string {
  const start = longestZeros(groups)
  if (start < 0) return hexGroups(groups, 0, 8)
  return `${hexGroups(groups, 0, start)}::${hexGroups(groups, zerosEnd(groups, start), 8)}`
}

function hexGroups(groups: readonly number[], start: number, end: number): string {
  let text = ''
  for (let i = start; i < end; i++) text += (i > start ? ':' : '') + groups[i].toString(16)
  return text
}

// returns the start of the zeros to write as `::`; -1 if there are none, because a single zero is written as `0`
function longestZeros(groups: readonly number[]): number {
  let best = -1
  let longest = 1
  for (let i = 0; i < 8; i++) {
    const end = zerosEnd(groups, i)
    if (end - i <= longest) continue
    best = i
    longest = end - i
  }
  return best
}

function zerosEnd(groups: readonly number[], start: number): number {
  let end = start
  while (end < 8 && groups[end] === 0) end++
  return end
}
