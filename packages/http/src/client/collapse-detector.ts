import {
  type Address,
  type CollapsedClients,
  collapsedClients,
  recordCollapsedClients,
  warnOnce,
} from '@sluice/limiter-core/http'
import { AddressSet, readAddress } from './address-set.ts'
import type { ClientSource } from './client-source.ts'
import { DistinctCount } from './distinct-count.ts'
import { PRIVATE_RANGES, PROXY_PRESETS, presetAddresses, presetBySigns } from './proxy-presets.ts'

/** Requests per round. Each round starts without memory of the previous one. */
const ROUND = 1_024
/** From the second round on, one request of this number is looked at; a power of 2. */
const SAMPLED = 4
/** Addresses that are watched in a round. One that sends a share of requests worth a warning is soon among them. */
const MAX_ADDRESSES = 64
/** An address is not judged by fewer requests. */
const LEAST_REQUESTS = 40
/** An address without new clients is judged again after this number of requests, since its share may have risen. */
const JUDGED_EVERY = 64
const MANY_CLIENTS = 20
/** An office behind one address has fewer browsers and tools. */
const MANY_AGENTS = 30
/** Share of the round's requests: several replicas of a proxy share them, and a crawler or school has few. */
const LEAST_SHARE = 1 / 16
/** Without forwarded addresses the evidence is weaker: a mobile network has many user agents behind one address. */
const LEAST_SHARE_BY_AGENTS = 1 / 4

const FORWARDED = 'x-forwarded-for'
const PRIVATE = new AddressSet(PRIVATE_RANGES)
/** Proxies at addresses of the internet, which are theirs alone. */
const PUBLIC_PROXIES = ['cloudflare', 'fastly', 'aws-cloudfront', 'azure-front-door', 'gcp-lb'] as const

/** What one counted address sent in this round. */
class Evidence {
  requests = 0
  readonly agents = new DistinctCount()
  readonly forwarded = new DistinctCount()
  privateClients = 0

  /** Returns whether the request may come from another client than the earlier ones. */
  add(address: string, source: ClientSource): boolean {
    this.requests++
    const agent = source.headerText('user-agent')
    const isNewAgent = agent !== undefined && this.agents.add(agent)
    const client = firstForwarded(source)
    if (client === undefined || client === address || !this.forwarded.add(client)) return isNewAgent
    // the address is read only if it is new, since reading takes longer than this check
    if (!isPublic(client)) this.privateClients++
    return true
  }

  /** Number of public addresses that were forwarded. Private ones belong to a client's own proxy. */
  get clients(): number {
    return this.forwarded.count - this.privateClients
  }
}

/**
 * Notices that many clients are counted as one: a proxy that is not trusted, or one hop too few. A request costs at most
 * two hashes; memory is at most 64 addresses of 256 bytes.
 */
export class CollapseDetector {
  readonly #isFound: () => boolean
  readonly #found: (found: CollapsedClients) => void
  #evidence = new Map<string, Evidence>()
  #requests = 0
  /** Requests that a sampled process has seen; -1 in the first round, in which each one is looked at. */
  #skipped = -1

  /** `isFound` returns whether a collapse is known, so that no other is looked for. */
  constructor(isFound: () => boolean, found: (found: CollapsedClients) => void) {
    this.#isFound = isFound
    this.#found = found
  }

  /** Takes a counted address into account. After the first collapse, nothing more is reported. */
  see(address: string, source: ClientSource): void {
    if ((this.#skipped >= 0 && (++this.#skipped & (SAMPLED - 1)) !== 0) || this.#isFound()) return
    if (this.#requests++ >= ROUND) {
      this.#requests = 1
      this.#skipped = Math.max(0, this.#skipped)
      this.#evidence = new Map()
    }
    const evidence = this.#evidence.get(address) ?? this.#watched(address, source)
    if (evidence === undefined) return
    const isNew = evidence.add(address, source)
    if (evidence.requests >= LEAST_REQUESTS && (isNew || evidence.requests % JUDGED_EVERY === 0)) {
      this.#judge(address, evidence, source)
    }
  }

  /** Watches an address, unless it belongs to a public proxy, which is reported at once, or cannot be watched. */
  #watched(address: string, source: ClientSource): Evidence | undefined {
    const read = this.#evidence.size < MAX_ADDRESSES ? readAddress(address) : undefined
    if (read === undefined) return undefined
    const proxy = publicProxyOf(address, read, source)
    if (proxy !== undefined) {
      this.#report({ address, reason: `it belongs to ${proxy}`, trust: `'${proxy}'` })
      return undefined
    }
    const evidence = new Evidence()
    this.#evidence.set(address, evidence)
    return evidence
  }

  #judge(address: string, { requests, agents, clients }: Evidence, source: ClientSource): void {
    const share = requests / this.#requests
    if (share < LEAST_SHARE) return
    const byAddresses = clients >= MANY_CLIENTS
    if (!byAddresses && (share < LEAST_SHARE_BY_AGENTS || agents.count < MANY_AGENTS)) return
    const [count, what] = byAddresses ? [clients, 'forwarded addresses'] : [agents.count, 'user agents']
    const reason = `about ${Math.round(count)} ${what} are behind it`
    this.#report({ address, reason, trust: suggestion(address, source) })
  }

  #report(found: CollapsedClients): void {
    this.#evidence = new Map()
    this.#found(found)
  }
}

/** Returns the proxy with published addresses to which an address belongs, if the request looks forwarded. */
function publicProxyOf(text: string, address: Address, source: ClientSource): string | undefined {
  const proxy = PUBLIC_PROXIES.find((name) => presetAddresses(name).has(address))
  if (proxy === undefined) return undefined
  const { header } = PROXY_PRESETS[proxy]
  const client = source.headerText(header)
  // programs that run at the provider are clients, and forward nothing
  return client === undefined || client.startsWith(text) ? undefined : proxy
}

function firstForwarded(source: ClientSource): string | undefined {
  const list = source.headerText(FORWARDED)
  const comma = list === undefined ? -1 : list.indexOf(',')
  return comma < 0 ? list : list?.slice(0, comma)
}

function isPublic(text: string): boolean {
  const address = readAddress(text.trim())
  return address !== undefined && !PRIVATE.has(address)
}

function suggestion(text: string, source: ClientSource): string {
  const preset = presetBySigns(source)
  if (preset === undefined) return `{ ranges: ['${text}'], header: '${FORWARDED}' }, once the proxy sends this header`
  const address = readAddress(text)
  const isKnown = address !== undefined && presetAddresses(preset).has(address)
  return isKnown ? `'${preset}'` : `{ preset: '${preset}', ranges: ['${text}'] }`
}

function hasCollapsed(): boolean {
  return collapsedClients() !== undefined
}

/** The detector of this process, which warns. */
export const collapseDetector: CollapseDetector = new CollapseDetector(hasCollapsed, (found) => {
  recordCollapsedClients(found)
  const { address, reason, trust } = found
  warnOnce(
    'SLUICE_CLIENTS_COLLAPSED',
    `many clients are counted as one: the address ${address} is counted, and ${reason}; if it is your proxy, set ` +
      `trust: ${trust}`,
  )
})
