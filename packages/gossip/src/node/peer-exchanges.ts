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
  readonly #running = new Set<AbortController>()
  #isClosed = false

  constructor(options: PeerExchangesOptions) {
    this.#options = options
  }

  /** Whether 4 exchanges are running, so that ticks start no more. */
  get isBusy(): boolean {
    return this.#running.size >= MAX_EXCHANGES
  }

  /** Exchanges with a random peer and returns whether another replica replied. Never rejects. */
  exchangeWithOne(): Promise<boolean> {
    return this.#ask(() => this.#options.peers.next())
  }

  /** Exchanges with all peers at once. Returns how many were asked and how many replied. Never rejects. */
  async exchangeWithAll(): Promise<{ readonly answered: number; readonly asked: number }> {
    const { peers } = this.#options
    if (this.#isClosed) return { answered: 0, asked: 0 }
    const others = await peers.others().catch(() => [])
    const results = await Promise.all(others.map((peer) => this.#ask(async () => peer)))
    return {
      answered: results.filter(Boolean).length,
      asked: others.filter(({ name }) => !peers.isOwn(name)).length,
    }
  }

  /** Ends the exchanges under way, whose replies are ignored. Nothing is sent afterwards. */
  close(): void {
    this.#isClosed = true
    for (const exchange of this.#running) exchange.abort()
  }

  /** Returns whether a replica other than this one replied. Never rejects. */
  async #ask(next: () => Promise<GossipPeer | undefined>): Promise<boolean> {
    const { replica, peers, replied, failed } = this.#options
    if (this.#isClosed) return false
    try {
      const asked = await this.#withinWait((signal) => this.#askPeer(next, signal))
      if (!asked) return false
      const isOwn = asked.from === replica
      peers.answered(asked.name, isOwn)
      if (!isOwn) replied()
      return !isOwn
    } catch (error) {
      if (!this.#isClosed) failed(error)
      return false
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

  /** Rejects when the time is over or this replica closes, even if the transport of a peer ignores the signal. */
  async #withinWait<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, waitMs } = this.#options
    const exchange = new AbortController()
    const { signal } = exchange
    const late = (): Error => {
      exchange.abort()
      return lateReply(waitMs)
    }
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    this.#running.add(exchange)
    try {
      return await withTimeout(Promise.race([run(signal), aborted]), { clock, waitMs, late })
    } finally {
      this.#running.delete(exchange)
    }
  }
}

function lateReply(waitMs: number): SluiceError {
  const message = `gossip: a peer did not reply within ${waitMs} ms; the next tick retries`
  return new SluiceError('SLUICE_GOSSIP_UNAVAILABLE', message)
}
