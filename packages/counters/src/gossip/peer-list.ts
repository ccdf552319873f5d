import type { MaybePromise } from '@sluice/limiter-core'
import { badOption } from '@sluice/limiter-core/backend'
import { type GossipPeer, HttpPeer } from './gossip-peer.ts'
import type { MessageSeal } from './message-seal.ts'

export type GossipPeers = readonly (string | GossipPeer)[]

export interface PeerListOptions {
  readonly peers: GossipPeers | (() => MaybePromise<GossipPeers>)
  readonly seal: MessageSeal
  readonly random: () => number
}

/** Whom a replica may ask: as given, without those that turned out to be itself. */
export class PeerList {
  readonly #options: PeerListOptions
  /** Names of peers that turned out to be this replica. */
  readonly #own = new Set<string>()

  /** Throws `SLUICE_BAD_OPTION` for what is no peer, and for one on another machine without a secret. */
  constructor(options: PeerListOptions) {
    this.#options = options
    if (typeof options.peers !== 'function') peersOf(options.peers, options.seal)
  }

  /** One of them, by chance; undefined where there is none. */
  async next(): Promise<GossipPeer | undefined> {
    const all = await this.#given()
    const others = all.filter(({ name }) => !this.isOwn(name))
    // at an address that several replicas share another one may answer next
    const next = others.length > 0 ? others : all
    return next[Math.floor(this.#options.random() * next.length)]
  }

  /** All that are not known to be this replica. */
  async others(): Promise<readonly GossipPeer[]> {
    return (await this.#given()).filter(({ name }) => !this.isOwn(name))
  }

  isOwn(name: string): boolean {
    return this.#own.has(name)
  }

  answered(name: string, isOwn: boolean): void {
    if (isOwn) this.#own.add(name)
    else this.#own.delete(name)
  }

  async #given(): Promise<readonly GossipPeer[]> {
    const { peers, seal } = this.#options
    return peersOf(typeof peers === 'function' ? await peers() : peers, seal)
  }
}

/** Throws `SLUICE_BAD_OPTION` for what is no peer, and for one on another machine without a secret. */
function peersOf(given: GossipPeers, seal: MessageSeal): readonly GossipPeer[] {
  if (!Array.isArray(given)) throw badOption('gossip: peers', given, 'an array of addresses')
  return given.map((peer: string | GossipPeer) => {
    if (typeof peer !== 'string') {
      if (typeof peer?.exchange === 'function' && typeof peer.name === 'string') return peer
      throw badOption('gossip: peers', peer, 'addresses, or peers with a name and exchange')
    }
    const made = new HttpPeer(peer)
    if (made.isLocal || seal.hasSecret) return made
    throw badOption('gossip: secret', undefined, 'one, since a peer is on another machine')
  })
}
