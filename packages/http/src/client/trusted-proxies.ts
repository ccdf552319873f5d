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
import { type ForwardedList, lastOf } from './forwarded-list.ts'
import { PROXY_PRESETS, type ProxyRules, presetAddresses } from './proxy-presets.ts'

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
}

const OPTION = 'trust'
const EXPECTED = `the name of a proxy (${Object.keys(PROXY_PRESETS).join(', ')}), { preset, ranges } or { ranges, header }`
const MAX_HOPS = 16
const OLD_AFTER_DAYS = 365
const DAY_MS = 86_400_000
/** Headers whose values are not addresses alone. */
const UNREADABLE: readonly string[] = ['forwarded', 'set-cookie']
const CLASS_E = new AddressSet(['240.0.0.0/4'])

/** The proxies that an application trusts to report the address of their client. */
export class TrustedProxies {
  readonly #proxies: readonly Proxy[]

  /** Throws `SLUICE_BAD_OPTION`. */
  constructor(option: ProxyTrustOption) {
    const list: readonly unknown[] = Array.isArray(option) ? option : [option]
    if (list.length === 0) throw badOption(OPTION, option, EXPECTED)
    this.#proxies = list.map((one) => proxyOf(one as ProxyTrust))
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
    let address = readAddress(text)
    for (;;) {
      const index = this.#indexOf(address, text, used)
      if (index < 0) return text
      used[index] = (used[index] ?? 0) + 1
      const proxy = this.#proxies[index]
      const next = addressBefore(proxy, source, lists)
      steps?.push({ from: text ?? 'unknown peer', proxy: proxy.name, header: proxy.header, to: next?.text })
      if (next === undefined) return text
      text = next.text
      address = next.address
    }
  }

  #indexOf(address: Address | undefined, text: string | undefined, used: readonly number[]): number {
    const proxies = this.#proxies
    for (let index = 0; index < proxies.length; index++) {
      const { addresses, hops = 1, unknownPeer = false } = proxies[index]
      if ((used[index] ?? 0) >= hops) continue
      if (address === undefined ? unknownPeer && text === undefined : addresses.has(address)) return index
    }
    return -1
  }
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
    if (found === undefined || ipv6Header === undefined || !CLASS_E.has(found.address)) return found
    return foundIn(source.headerText(ipv6Header))
  }
  const list = lists.get(header) ?? { text: source.headerText(header) }
  lists.set(header, list)
  for (let i = 0; i < trailing; i++) lastOf(list)
  return foundIn(lastOf(list))
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
  if (!isHeaderName(header) || UNREADABLE.includes(header.toLowerCase())) {
    throw badOption(`${OPTION}: header`, header, "the name of a header with addresses, such as 'x-forwarded-for'")
  }
  integerFrom(`${OPTION}: hops`, hops, 1, MAX_HOPS)
  return { name: 'proxy', header: header.toLowerCase(), hops, ranges, addresses: addressesOf(ranges) }
}

function presetProxy(name: ProxyPreset, given?: PresetInRanges): Proxy {
  if (!Object.hasOwn(PROXY_PRESETS, name)) throw badOption(OPTION, name, EXPECTED)
  const preset = PROXY_PRESETS[name]
  if (given === undefined) {
    warnIfOld(name)
    return { ...preset, name, addresses: presetAddresses(name) }
  }
  const { ranges } = optionsOf(OPTION, given, ['preset', 'ranges'])
  return { ...preset, name, ranges, unknownPeer: false, addresses: addressesOf(ranges) }
}

function addressesOf(ranges: unknown): AddressSet {
  if (!Array.isArray(ranges) || ranges.length === 0) throw badRange(ranges)
  return new AddressSet(ranges, badRange)
}

function badRange(range: unknown): Error {
  return badOption(`${OPTION}: ranges`, range, "addresses and CIDR ranges such as '10.1.0.0/16'")
}

/** Warns once if the published addresses of a proxy were read more than a year ago, or on an unknown day. */
function warnIfOld(name: ProxyPreset): void {
  const { published } = PROXY_PRESETS[name]
  if (published === undefined) return
  const { read, source } = published
  if (read !== undefined && systemClock.wall() - Date.parse(read) <= OLD_AFTER_DAYS * DAY_MS) return
  warnOnce(
    'SLUICE_OLD_PROXY_RANGES',
    `the addresses of ${name} are ${read === undefined ? 'of an unknown day' : `from ${read}`}; update Sluice, or pass ` +
      `trust: { preset: '${name}', ranges } with the addresses of ${source}`,
    name,
  )
}
