import type { MaybePromise } from '@sluice/limiter-core'
import { badOption } from '@sluice/limiter-core/backend'
import { type GossipPeer, HttpPeer } from './gossip-peer.ts'
import type { MessageSeal } from './message-seal.ts'

/** Peers of a replica: HTTP addresses or custom transports. */
export type GossipPeers = readonly (string | GossipPeer)[]

export interface PeerListOptions {
  readonly peers: GossipPeers | (() => MaybePromise<GossipPeers>)
  readonly seal: MessageSeal
  readonly random: () => number
}

/** Peers that a replica may ask, without the ones that turned out to be the replica itself. */
export class PeerList {
  readonly #options: PeerListOptions
  /** Names of peers that turned out to be this replica. */
  readonly #own = new Set<string>()

  /** Throws `SLUICE_BAD_OPTION` for an invalid peer, and for an address of another machine without a secret. */
  constructor(options: PeerListOptions) {
    this.#options = options
    if (typeof options.peers !== 'function') peersOf(options.peers, options.seal)
  }

  /** Returns a random peer, or undefined if there is none. */
  async next(): Promise<GossipPeer | undefined> {
    const all = await this.#given()
    const others = all.filter(({ name }) => !this.isOwn(name))
    // replicas may share an address, so another one may answer there next time
    const next = others.length > 0 ? others : all
    return next[Math.floor(this.#options.random() * next.length)]
  }

  /** Returns all peers that are not known to be this replica. */
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

/**
 * Converts addresses to peers. Throws `SLUICE_BAD_OPTION` for an invalid peer, and for an address of another machine
 * without a secret.
 */
function peersOf(given: GossipPeers, seal: MessageSeal): readonly GossipPeer[] {
  if (!Array.isArray(given)) throw badOption('gossip: peers', given, 'an array of addresses')
  return given.map((peer: string | GossipPeer) => {
    if (typeof peer !== 'string') {
      if (typeof peer?.exchange === 'function' && typeof peer.name === 'string') return peer
      throw badOption('gossip: peers', peer, 'an address, or a peer with a name and an exchange function')
    }
    const made = new HttpPeer(peer)
    if (made.isLocal || seal.hasSecret) return made
    throw badOption('gossip: secret', undefined, 'a secret, because a peer is on another machine')
  })
}
