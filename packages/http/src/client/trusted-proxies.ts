import {
  type Address,
  badOption,
  integerFrom,
  isHeaderName,
  optionsOf,
  systemClock,
  warnOnce,
} from '@sluice/limiter-core/http'
import type { PresetInRanges, ProxyPreset, ProxyTrust, ProxyTrustOption, TrustedProxy } from '../proxy-trust.ts'
import { AddressSet, readAddress } from './address-set.ts'
import type { ClientSource } from './client-source.ts'
import { type ForwardedList, lastForwardedFor, lastOf } from './forwarded-list.ts'
import { PROXY_PRESETS, type ProxyRules, presetAddresses } from './proxy-presets.ts'
import { trustText } from './trust-text.ts'

/** A step from a peer or proxy towards the client, for explanations. */
export interface Hop {
  readonly from: string
  readonly proxy: string
  readonly header: string
  /** The address that the proxy wrote; undefined if its header proves none. */
  readonly to: string | undefined
}

interface Proxy extends ProxyRules {
  readonly name: string
  readonly addresses: AddressSet
  /** Whether its header has named an address so far. */
  hasProven?: boolean
}

const OPTION = 'trust'
const EXPECTED = `the name of a proxy (${Object.keys(PROXY_PRESETS).join(', ')}), { preset, ranges } or { ranges, header }`
const MAX_HOPS = 16
const OLD_AFTER_DAYS = 365
const DAY_MS = 86_400_000
const FORWARDED = 'forwarded'
const LIST = 'x-forwarded-for'
/** Stands for a peer without an address in `ranges`. */
const UNKNOWN = 'unknown'
/** Address of the peer at a Unix socket: a proxy on this machine. */
const LOOPBACK: Address = { version: 4, groups: [0x7f00, 1] }

/** The proxies that an application trusts to report the address of their client. */
export class TrustedProxies {
  /** The entries of the option. */
  readonly entries: readonly ProxyTrust[]
  /** The option as source text. */
  readonly text: string
  readonly #proxies: readonly Proxy[]

  /** Throws `SLUICE_BAD_OPTION`. Prints no warning for a trial, which is not the application's setting. */
  constructor(option: ProxyTrustOption, isTrial = false) {
    this.entries = Array.isArray(option) ? option : [option]
    if (this.entries.length === 0) throw badOption(OPTION, option, EXPECTED)
    // of several proxies that an address may be, the one with fewer addresses: the other one may be needed for others
    this.#proxies = this.entries.map(proxyOf).sort((a, b) => a.addresses.share - b.addresses.share)
    this.text = trustText(this.entries)
    if (!isTrial) this.entries.forEach(warnIfOld)
  }

  /**
   * Returns the address of the client, starting with the peer: as long as an address belongs to a trusted proxy and the
   * proxy's header names an address, that address is next. Each proxy is passed at most `hops` times, so that a request
   * cannot lead further into a header that its client wrote. `steps` receives each step.
   */
  addressOf(source: ClientSource, steps?: Hop[]): string | undefined {
    const used: number[] = []
    const lists = new Map<string, ForwardedList>()
    let text = source.peer
    let address = text === undefined && source.link === 'unix' ? LOOPBACK : readAddress(text)
    for (;;) {
      const index = this.#indexOf(address, text === undefined ? (source.link ?? UNKNOWN) : undefined, used)
      if (index < 0) return text
      used[index] = (used[index] ?? 0) + 1
      const proxy = this.#proxies[index]
      const next = addressBefore(proxy, source, lists)
      steps?.push({ from: text ?? peerName(source.link), proxy: proxy.name, header: proxy.header, to: next?.text })
      if (next === undefined) return text
      proxy.hasProven = true
      text = next.text
      address = next.address
    }
  }

  /** Whether the header of the proxies of this name has named an address so far. */
  hasProven(name: string): boolean {
    return this.#proxies.some((proxy) => proxy.name === name && proxy.hasProven)
  }

  #indexOf(address: Address | undefined, unaddressed: string | undefined, used: readonly number[]): number {
    const proxies = this.#proxies
    for (let index = 0; index < proxies.length; index++) {
      const { name, addresses, hops = 1, unknownPeer = false } = proxies[index]
      if ((used[index] ?? 0) >= hops) continue
      const isMeant = unaddressed !== undefined && (unknownPeer || name === unaddressed)
      if (isMeant || (address && addresses.has(address))) return index
    }
    return -1
  }
}

function peerName(link: ClientSource['link']): string {
  return link === undefined
    ? 'unknown peer'
    : { unix: 'the peer at the Unix socket', 'aws-alb': 'the load balancer' }[link]
}

interface Found {
  readonly text: string
  readonly address: Address
}

/** Returns the address that a proxy wrote; undefined if it wrote none, or text that is not a single address. */
function addressBefore(
  { header, single = false, trailing = 0, ipv6Header }: ProxyRules,
  source: ClientSource,
  lists: Map<string, ForwardedList>,
): Found | undefined {
  if (single) {
    const found = foundIn(source.headerText(header))
    if (found !== undefined) skip(found.address, listOf(LIST, source, lists))
    const isPseudo = found !== undefined && ipv6Header !== undefined && isClassE(found.address)
    return isPseudo ? foundIn(source.headerText(ipv6Header)) : found
  }
  const list = listOf(header, source, lists)
  if (header === FORWARDED) return foundIn(lastForwardedFor(list))
  for (let i = 0; i < trailing; i++) lastOf(list)
  return foundIn(lastOf(list))
}

/** Whether an address is in 240.0.0.0/4, which is reserved. */
function isClassE({ version, groups }: Address): boolean {
  return version === 4 && groups[0] >= 0xf000
}

function listOf(header: string, source: ClientSource, lists: Map<string, ForwardedList>): ForwardedList {
  const list = lists.get(header) ?? { text: source.headerText(header) }
  lists.set(header, list)
  return list
}

/** Drops what a proxy with a header of its own has also appended to a list: the address, and perhaps its own one. */
function skip(address: Address, list: ForwardedList): void {
  const rest = { text: list.text }
  for (let values = 1; values <= 2; values++) {
    const found = foundIn(lastOf(rest))
    if (found === undefined || !isSame(found.address, address)) continue
    list.text = rest.text
    return
  }
}

function isSame(one: Address, other: Address): boolean {
  return one.version === other.version && one.groups.every((group, index) => group === other.groups[index])
}

function foundIn(written: string | undefined): Found | undefined {
  const text = written?.trim()
  const address = readAddress(text)
  return text !== undefined && address !== undefined ? { text, address } : undefined
}

function proxyOf(one: ProxyTrust): Proxy {
  if (typeof one === 'string') return presetProxy(one)
  if (typeof one !== 'object' || one === null) throw badOption(OPTION, one, EXPECTED)
  if ('preset' in one) return presetProxy(one.preset, one)
  const { ranges, header, hops = 1 } = optionsOf(OPTION, one as TrustedProxy, ['ranges', 'header', 'hops'])
  if (!isHeaderName(header) || header.toLowerCase() === 'set-cookie') {
    throw badOption(`${OPTION}: header`, header, "the name of a header with addresses, such as 'x-forwarded-for'")
  }
  integerFrom(`${OPTION}: hops`, hops, 1, MAX_HOPS)
  return { name: 'proxy', header: header.toLowerCase(), hops, ...inRanges(ranges) }
}

function presetProxy(name: ProxyPreset, given?: PresetInRanges): Proxy {
  if (!Object.hasOwn(PROXY_PRESETS, name)) throw badOption(OPTION, name, EXPECTED)
  const preset = PROXY_PRESETS[name]
  if (given === undefined) return { ...preset, name, addresses: presetAddresses(name) }
  const { ranges } = optionsOf(OPTION, given, ['preset', 'ranges'])
  return { ...preset, name, ...inRanges(ranges) }
}

function inRanges(ranges: readonly string[]): Pick<Proxy, 'ranges' | 'unknownPeer' | 'addresses'> {
  if (!Array.isArray(ranges) || ranges.length === 0) throw badRange(ranges)
  const addresses = new AddressSet(
    ranges.filter((range) => range !== UNKNOWN),
    badRange,
  )
  return { ranges, unknownPeer: ranges.includes(UNKNOWN), addresses }
}

function badRange(range: unknown): Error {
  return badOption(`${OPTION}: ranges`, range, "addresses and CIDR ranges such as '10.1.0.0/16'")
}

/** Warns once if the published addresses of a proxy were read more than a year ago. */
function warnIfOld(name: ProxyTrust): void {
  const { read, source } = (typeof name === 'string' && PROXY_PRESETS[name].published) || {}
  if (read === undefined || systemClock.wall() - Date.parse(read) <= OLD_AFTER_DAYS * DAY_MS) return
  warnOnce(
    'SLUICE_OLD_PROXY_RANGES',
    `the addresses of ${name} are from ${read}; update Sluice, or pass trust: { preset: '${name}', ranges } with the ` +
      `addresses of ${source}`,
    name as string,
  )
}
