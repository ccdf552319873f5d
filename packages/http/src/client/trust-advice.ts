import type { ProxyPreset, ProxyTrust } from '../proxy-trust.ts'
import { canonical, readAddress } from './address-set.ts'
import type { ClientSource } from './client-source.ts'
import { DistinctCount } from './distinct-count.ts'
import { isPrivate } from './private-addresses.ts'
import { PROXY_PRESETS, type ProxyRules, PUBLIC_PROXIES, presetAddresses } from './proxy-presets.ts'
import type { ProxySign } from './proxy-signs.ts'
import { type Hop, TrustedProxies } from './trusted-proxies.ts'

const LIST = 'x-forwarded-for'
/** Proxies that an advice adds beside the one in question. */
const MAX_ADDED = 3
/** Health checks and monitors, which pass no proxy, have fewer user agents. */
const MAX_AGENTS_WITHOUT_PROOF = 2
/** Clients that an advice must distinguish. */
const LEAST_CLIENTS = 3

/** A value of the option `trust` that may distinguish the clients behind an address. It is tried on their requests. */
export class TrustAdvice {
  readonly #proxies: TrustedProxies
  /** Proxies that each request must have passed. */
  readonly #leastHops: number
  readonly #counted: string
  /** Header whose value must be the last one of X-Forwarded-For, so that it is not of a proxy farther away. */
  readonly #agreeing: string | undefined
  readonly #clients = new DistinctCount()
  readonly #withoutProof = new DistinctCount()
  /** User agents of requests before the first one with the sign. */
  #earlierAgents = 0

  private constructor({ entries, leastHops }: Chain, counted: string, agreeing?: string) {
    this.#proxies = new TrustedProxies(entries, true)
    this.#leastHops = leastHops
    this.#counted = counted
    this.#agreeing = agreeing
  }

  /**
   * Returns the advice to trust the address that counts for a request, as the proxy with this sign. `trusted` are the
   * entries that lead to this address. Returns undefined if the request has no such sign, or if the advice leads to no
   * other address.
   */
  static bySign(
    sign: ProxySign,
    counted: string,
    trusted: readonly ProxyTrust[],
    source: ClientSource,
  ): TrustAdvice | undefined {
    if (source.headerText(sign.header) === undefined) return undefined
    const isHome = sign.preset !== undefined && isAddressOf(sign.preset, counted)
    if (sign.isOnlyAtHome && !isHome) return undefined
    const entries = reaching(counted, trusted, source)
    if (entries === undefined) return undefined
    const { header, single = false }: Pick<ProxyRules, 'header' | 'single'> = sign.preset
      ? PROXY_PRESETS[sign.preset]
      : sign
    const own = sign.preset ? entryOf(sign.preset, counted, entries) : { ranges: [counted], header }
    const chain = extended([...entries, own], source)
    return chain && new TrustAdvice(chain, counted, single && !isHome ? header : undefined)
  }

  /** Returns the advice to trust a public proxy, to which the address that counts for a request belongs. */
  static publicProxy(
    name: ProxyPreset,
    counted: string,
    trusted: readonly ProxyTrust[],
    source: ClientSource,
  ): TrustAdvice | undefined {
    const entries = reaching(counted, trusted, source)
    // a single request does not show which private addresses are proxies
    const chain = entries && extended([...entries, entryOf(name, counted, entries)], source, 0)
    return chain && new TrustAdvice(chain, counted)
  }

  /** The value of the option as source text. */
  get text(): string {
    return this.#proxies.text
  }

  /** Takes requests into account that came before the first one with the sign. */
  missed(agents: number): void {
    this.#earlierAgents = agents
  }

  /** Tries the advice on a request. */
  try(source: ClientSource, agent: string): void {
    const hops: Hop[] = []
    const client = canonical(this.#proxies.addressOf(source, hops))
    const isProven = hops.length >= this.#leastHops && hops.every(({ to }) => to !== undefined)
    if (isProven && client !== undefined && client !== this.#counted && this.#agrees(source)) this.#clients.add(client)
    else this.#withoutProof.add(agent)
  }

  /** Whether the advice distinguishes a good part of the clients, and can be trusted: few requests have no proof. */
  distinguishes(clients: number): boolean {
    if (this.#earlierAgents + Math.round(this.#withoutProof.count) > MAX_AGENTS_WITHOUT_PROOF) return false
    return this.#clients.count >= Math.max(LEAST_CLIENTS, clients / 4)
  }

  #agrees(source: ClientSource): boolean {
    const list = this.#agreeing === undefined ? undefined : source.headerText(LIST)
    if (list === undefined) return true
    return canonical(list.slice(list.lastIndexOf(',') + 1)) === canonical(source.headerText(this.#agreeing as string))
  }
}

interface Reached {
  readonly address: string | undefined
  /** Number of proxies whose header named an address. */
  readonly proven: number
}

function reach(entries: readonly ProxyTrust[], source: ClientSource): Reached {
  if (entries.length === 0) return { address: canonical(source.peer), proven: 0 }
  const hops: Hop[] = []
  const address = canonical(new TrustedProxies(entries, true).addressOf(source, hops))
  return { address, proven: hops.filter(({ to }) => to !== undefined).length }
}

/**
 * Returns entries that lead from the peer to an address. Without trusted proxies, the framework's own setting may have
 * led there: these proxies become entries, since `trust` replaces the setting.
 */
function reaching(
  counted: string,
  trusted: readonly ProxyTrust[],
  source: ClientSource,
): readonly ProxyTrust[] | undefined {
  const entries = [...trusted]
  for (let added = 0; ; added++) {
    const { address, proven } = reach(entries, source)
    if (address === counted) return entries
    if (address === undefined || added === MAX_ADDED || proven < entries.length - trusted.length) return undefined
    entries.push(entryOf('nginx', address, entries))
  }
}

interface Chain {
  readonly entries: readonly ProxyTrust[]
  /** Proxies that each request must have passed, so that the entries do not come from what one client wrote. */
  readonly leastHops: number
}

/**
 * Adds the proxies to which the last entry leads: public ones, which have addresses of their own, and private addresses
 * with a further address in front of them. Returns undefined if the last entry leads to no address.
 */
function extended(given: readonly ProxyTrust[], source: ClientSource, most = MAX_ADDED): Chain | undefined {
  const before = reach(given.slice(0, -1), source)
  let at = reach(given, source)
  if (at.address === undefined || at.proven === before.proven) return undefined
  const entries = [...given]
  let leastHops = 1
  for (let added = 0; added < most; added++) {
    const { address, proven } = at as { address: string; proven: number }
    // a client at a provider, or in a private network, is not a proxy
    const next = fartherProxies(address, entries).find((one) => reach([...entries, one], source).proven > proven)
    if (next === undefined) break
    entries.push(next)
    at = reach(entries, source)
    // these are addresses that others could have, too
    if (isPrivate(address) || typeof next === 'object') leastHops = at.proven
  }
  return { entries, leastHops }
}

/** Returns entries that may trust the proxy at an address. */
function fartherProxies(address: string, others: readonly ProxyTrust[]): readonly ProxyTrust[] {
  const found = PUBLIC_PROXIES.find((name) => isAddressOf(name, address))
  if (found !== undefined) return [entryOf(found, address, others)]
  if (!isPrivate(address)) return []
  const last = others.at(-1)
  const same = typeof last === 'object' && 'header' in last ? [{ ranges: [address], header: last.header }] : []
  return [...same, entryOf('nginx', address, others)]
}

/** Returns the entry that trusts one more proxy of a kind at an address. */
function entryOf(preset: ProxyPreset, address: string, others: readonly ProxyTrust[]): ProxyTrust {
  return isAddressOf(preset, address) && !others.includes(preset) ? preset : { preset, ranges: [address] }
}

function isAddressOf(preset: ProxyPreset, text: string): boolean {
  const address = readAddress(text)
  return address !== undefined && presetAddresses(preset).has(address)
}
