import { withTimeout } from '@sluice/counters/backend'
import { type Clock, SluiceError } from '@sluice/limiter-core/backend'
import type { GossipExchange } from '../exchange/gossip-exchange.ts'
import type { GossipPeer } from '../exchange/gossip-peer.ts'
import type { PeerList } from '../exchange/peer-list.ts'

/** Maximum number of concurrent exchanges started by ticks. An unresponsive peer occupies one for `waitMs`. */
const MAX_EXCHANGES = 4

export interface PeerExchangesOptions {
  /** Name of this replica. */
  readonly replica: string
  readonly peers: PeerList
  readonly exchange: GossipExchange
  readonly clock: Clock
  /** Timeout of one exchange, in ms. */
  readonly waitMs: number
  /** Called when another replica has replied. */
  readonly replied: () => void
  /** Called when an exchange has failed or timed out. */
  readonly failed: (error: unknown) => void
}

/** Exchanges with peers that this replica starts, each with a timeout. */
export class PeerExchanges {
  readonly #options: PeerExchangesOptions
  #running = 0

  constructor(options: PeerExchangesOptions) {
    this.#options = options
  }

  /** Whether 4 exchanges are running, so that ticks start no more. */
  get isBusy(): boolean {
    return this.#running >= MAX_EXCHANGES
  }

  /** Exchanges with a random peer and returns whether another replica replied. Never rejects. */
  exchangeWithOne(): Promise<boolean> {
    return this.#ask(() => this.#options.peers.next())
  }

  /** Exchanges with all peers at once. Returns how many were asked and how many replied. Never rejects. */
  async exchangeWithAll(): Promise<{ readonly answered: number; readonly asked: number }> {
    const { peers } = this.#options
    const others = await peers.others().catch(() => [])
    const results = await Promise.all(others.map((peer) => this.#ask(async () => peer)))
    return {
      answered: results.filter(Boolean).length,
      asked: others.filter(({ name }) => !peers.isOwn(name)).length,
    }
  }

  /** Returns whether a replica other than this one replied. Never rejects. */
  async #ask(next: () => Promise<GossipPeer | undefined>): Promise<boolean> {
    const { replica, peers, replied, failed } = this.#options
    this.#running++
    try {
      const asked = await this.#withinWait((signal) => this.#askPeer(next, signal))
      if (!asked) return false
      const isOwn = asked.from === replica
      peers.answered(asked.name, isOwn)
      if (!isOwn) replied()
      return !isOwn
    } catch (error) {
      failed(error)
      return false
    } finally {
      this.#running--
    }
  }

  /** Returns undefined if there is no peer or no time left. */
  async #askPeer(
    next: () => Promise<GossipPeer | undefined>,
    signal: AbortSignal,
  ): Promise<{ readonly name: string; readonly from: string } | undefined> {
    const peer = await next()
    if (!peer || signal.aborted) return undefined
    return { name: peer.name, from: await this.#options.exchange.exchangeWith(peer, signal) }
  }

  #withinWait<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, waitMs } = this.#options
    const deadline = new AbortController()
    const late = (): Error => {
      deadline.abort()
      return lateReply(waitMs)
    }
    return withTimeout(run(deadline.signal), { clock, waitMs, late })
  }
}

function lateReply(waitMs: number): SluiceError {
  const message = `gossip: a peer did not reply within ${waitMs} ms; the next tick retries`
  return new SluiceError('SLUICE_GOSSIP_UNAVAILABLE', message)
}
