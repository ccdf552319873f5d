import { type Clock, type CollapsedClients, systemClock } from '@sluice/limiter-core/http'
import { canonical, readAddress } from './address-set.ts'
import { ClientEvidence } from './client-evidence.ts'
import type { ClientSource } from './client-source.ts'
import { isPrivate } from './private-addresses.ts'
import { PROXY_PRESETS, PUBLIC_PROXIES, presetAddresses } from './proxy-presets.ts'
import { looksForwarded } from './proxy-signs.ts'
import { TrustAdvice } from './trust-advice.ts'
import type { Hop, TrustedProxies } from './trusted-proxies.ts'
import { WarnedAddresses } from './warned-addresses.ts'

/** Requests per round. Each round counts from zero. */
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
/** An internal program, or a developer in front of the application, has fewer user agents. */
const SEVERAL_AGENTS = 5
/** Share of the round's requests: several replicas of a proxy share them, and a crawler or school has few. */
const LEAST_SHARE = 1 / 16
/** Without forwarded addresses the evidence is weaker: a mobile network has many user agents behind one address. */
const LEAST_SHARE_BY_AGENTS = 1 / 4
/** Programs that check whether the application is alive, and pass no proxy. */
const PROBE = /probe|health|check|googlehc|prometheus|monitor|uptime/i
/** Address of a network's gateway, at which Docker and Kubernetes translate addresses. */
const GATEWAY = /\.1$/

/** A trusted proxy whose header names no client. */
export interface UnprovenProxy {
  readonly address: string
  /** Name of the preset, or `proxy`. */
  readonly proxy: string
  readonly header: string
}

/** Receives what the detector has found. */
export interface CollapseReporter {
  collapsed(found: CollapsedClients): void
  unproven(found: UnprovenProxy): void
}

/**
 * Notices that many clients are counted as one: a proxy that is not trusted, one hop too few, or a trusted proxy whose
 * header names no client. Reports each address range once per hour, and a limited number of them. A request costs at most
 * two hashes, unless it may come from a new client; memory is at most 64 addresses of some hundred bytes.
 */
export class CollapseDetector {
  readonly #reporter: CollapseReporter
  readonly #reported: WarnedAddresses
  /** By address, in canonical form. */
  #evidence = new Map<string, ClientEvidence>()
  #requests = 0
  /** Requests that a sampled process has seen; -1 in the first round, in which each one is looked at. */
  #skipped = -1

  constructor(reporter: CollapseReporter, clock: Pick<Clock, 'now'> = systemClock) {
    this.#reporter = reporter
    this.#reported = new WarnedAddresses(clock)
  }

  /** Takes a counted address into account. `proxies` are those that led to it; undefined if the framework did. */
  see(address: string, source: ClientSource, proxies?: TrustedProxies): void {
    if (this.#skipped >= 0 && (++this.#skipped & (SAMPLED - 1)) !== 0) return
    if (this.#requests++ >= ROUND) this.#startRound()
    const evidence = this.#evidence.get(address) ?? this.#watched(address, source, proxies)
    // a limiter with other proxies sees other clients
    if (evidence === undefined || evidence.proxies?.text !== proxies?.text) return
    const isNew = evidence.add(source)
    const { requests } = evidence
    if (requests < LEAST_REQUESTS) return
    if (isNew || requests === LEAST_REQUESTS || requests % JUDGED_EVERY === 0) this.#judge(evidence, source)
  }

  /** Forgets all requests and warnings, in tests. */
  reset(): void {
    this.#reported.clear()
    this.#evidence.clear()
    this.#requests = 0
    this.#skipped = -1
  }

  #startRound(): void {
    this.#requests = 1
    this.#skipped = Math.max(0, this.#skipped)
    // an address of fewer requests is not judged
    const kept = [...this.#evidence].filter(([, { requests }]) => requests >= LEAST_REQUESTS)
    for (const [, evidence] of kept) evidence.renew()
    this.#evidence = new Map(kept)
  }

  /** Watches an address, unless it belongs to a public proxy, which is reported at once, or cannot be watched. */
  #watched(text: string, source: ClientSource, proxies: TrustedProxies | undefined): ClientEvidence | undefined {
    // other spellings of an address, such as with the port of each connection, are the same address
    const address = canonical(text)
    const known = address === undefined ? undefined : this.#evidence.get(address)
    if (known !== undefined || address === undefined || this.#evidence.size >= MAX_ADDRESSES) return known
    if (!this.#reported.mayAdd(address)) return undefined
    const found = publicProxy(address, source, proxies)
    if (found !== undefined) {
      if (this.#reported.add(address, true)) this.#reporter.collapsed(found)
      return undefined
    }
    const evidence = new ClientEvidence(address, proxies)
    this.#evidence.set(address, evidence)
    return evidence
  }

  #judge(evidence: ClientEvidence, source: ClientSource): void {
    const hops: Hop[] = []
    evidence.proxies?.addressOf(source, hops)
    const last = hops.at(-1)
    const isUnproven = last !== undefined && last.to === undefined
    const found = isUnproven ? unproven(evidence, last, source) : this.#collapse(evidence, hops)
    if (found === undefined) return
    this.#evidence.delete(evidence.address)
    if (!this.#reported.add(evidence.address, isUnproven || undefined)) return
    if ('proxy' in found) this.#reporter.unproven(found)
    else this.#reporter.collapsed(found)
  }

  #collapse(evidence: ClientEvidence, hops: readonly Hop[]): CollapsedClients | undefined {
    const { address, requests, agents, clients } = evidence
    const share = requests / this.#requests
    if (share < LEAST_SHARE) return undefined
    const byAddresses = clients >= MANY_CLIENTS
    const isMuch = share >= LEAST_SHARE_BY_AGENTS
    if (!byAddresses && !(isMuch && agents.count >= MANY_AGENTS)) {
      return isMuch && hidesClients(evidence, hops) ? inFrontOf(address, hops) : undefined
    }
    const [count, what] = byAddresses ? [clients, 'forwarded addresses'] : [agents.count, 'user agents']
    const reason = `about ${Math.round(count)} ${what} are behind it`
    const trust = evidence.advice()?.text
    if (trust === undefined && hops.length > 0 && isPrivate(address)) return { ...inFrontOf(address, hops), reason }
    return {
      address,
      reason,
      trust,
      advice: trust === undefined ? MAKE_IT_SEND : `if it is your proxy, set trust: ${trust}`,
    }
  }
}

const MAKE_IT_SEND =
  'no header of its requests proves a client; if it is your proxy, make it send X-Forwarded-For; if it is a gateway that ' +
  'translates addresses, as in Docker and Kubernetes, keep the addresses of clients there'

/** Whether trusted proxies name a private address that is probably not a client. */
function hidesClients({ address, agents }: ClientEvidence, hops: readonly Hop[]): boolean {
  return hops.length > 0 && isPrivate(address) && (GATEWAY.test(address) || agents.count >= SEVERAL_AGENTS)
}

function inFrontOf(address: string, hops: readonly Hop[]): CollapsedClients {
  const names = hops.map(({ proxy }) => proxy).join(', ')
  return {
    address,
    reason: `it is a private address that your proxies (${names}) name`,
    advice:
      'what is in front of them hides the clients; keep their addresses there (Kubernetes: externalTrafficPolicy: Local; ' +
      'Docker: no userland proxy, or the network of the host)',
  }
}

/** Returns the proxy with published addresses to which an address belongs, if the request looks forwarded. */
function publicProxy(
  address: string,
  source: ClientSource,
  proxies: TrustedProxies | undefined,
): CollapsedClients | undefined {
  const read = readAddress(address)
  const proxy = PUBLIC_PROXIES.find((name) => read !== undefined && presetAddresses(name).has(read))
  // programs that run at the provider are clients, and forward nothing
  if (proxy === undefined || source.headerText(PROXY_PRESETS[proxy].header) === undefined) return undefined
  const trust = TrustAdvice.publicProxy(proxy, address, proxies?.entries ?? [], source)?.text
  if (trust === undefined) return undefined
  return { address, reason: `it belongs to ${proxy}`, trust, advice: `if it is your proxy, set trust: ${trust}` }
}

/** Returns a trusted proxy whose header names no client, if its requests probably come from several clients. */
function unproven(
  { address, agents, proxies }: ClientEvidence,
  { proxy, header }: Hop,
  source: ClientSource,
): UnprovenProxy | undefined {
  if (PROBE.test(source.headerText('user-agent') ?? '')) return undefined
  const isMisled = looksForwarded(source) && agents.count >= 2
  // programs of the same network may call the application without the proxy
  if (proxies?.hasProven(proxy) && !isMisled && agents.count < SEVERAL_AGENTS) return undefined
  return { address, proxy, header }
}
