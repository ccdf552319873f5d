import { canonical } from './address-set.ts'
import type { ClientSource } from './client-source.ts'
import { DistinctCount } from './distinct-count.ts'
import { isPrivate } from './private-addresses.ts'
import { type ProxySign, SIGNS } from './proxy-signs.ts'
import { TrustAdvice } from './trust-advice.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

const FORWARDED = 'x-forwarded-for'
const NO_AGENT = ''
/** What one counted address sent in this round, and what would distinguish its clients. */
export class ClientEvidence {
  /** The address in canonical form. */
  readonly address: string
  readonly proxies: TrustedProxies | undefined
  requests = 0
  agents: DistinctCount = new DistinctCount()
  #forwarded = new DistinctCount()
  #privateClients = 0
  readonly #advices = new Map<ProxySign, TrustAdvice>()

  constructor(address: string, proxies: TrustedProxies | undefined) {
    this.address = address
    this.proxies = proxies
  }

  /** Number of public addresses that were forwarded. Private ones belong to a client's own proxy. */
  get clients(): number {
    return this.#forwarded.count - this.#privateClients
  }

  /** Returns whether the request may come from another client than the earlier ones. */
  add(source: ClientSource): boolean {
    this.requests++
    const agent = source.headerText('user-agent') ?? NO_AGENT
    const isNewAgent = this.agents.add(agent)
    const isNew = this.#addForwarded(source) || isNewAgent
    if (isNew) this.#tryAdvices(source, agent, isNewAgent)
    return isNew
  }

  /** Starts a new round. What the advices have seen stays, so that a flood cannot hide requests without a proof. */
  renew(): void {
    this.requests = 0
    this.agents = new DistinctCount()
    this.#forwarded = new DistinctCount()
    this.#privateClients = 0
  }

  /** Returns the most specific advice that distinguishes the clients; undefined if there is none. */
  advice(): TrustAdvice | undefined {
    const clients = Math.max(this.clients, this.agents.count)
    for (const sign of SIGNS) {
      const advice = this.#advices.get(sign)
      if (advice?.distinguishes(clients)) return advice
    }
    return undefined
  }

  #addForwarded(source: ClientSource): boolean {
    const list = source.headerText(FORWARDED)
    const comma = list === undefined ? -1 : list.indexOf(',')
    const client = comma < 0 ? list : list?.slice(0, comma)
    if (client === undefined || !this.#forwarded.add(client)) return false
    const read = canonical(client)
    // the address is read only if it is new, since reading takes longer than this check
    if (read === undefined || read === this.address || isPrivate(read)) this.#privateClients++
    return true
  }

  #tryAdvices(source: ClientSource, agent: string, isNewAgent: boolean): void {
    const earlier = Math.round(this.agents.count) - (isNewAgent ? 1 : 0)
    for (const sign of SIGNS) {
      const known = this.#advices.get(sign)
      const advice = known ?? TrustAdvice.bySign(sign, this.address, this.proxies?.entries ?? [], source)
      if (advice === undefined) continue
      if (known === undefined) {
        advice.missed(earlier)
        this.#advices.set(sign, advice)
      }
      advice.try(source, agent)
    }
  }
}
