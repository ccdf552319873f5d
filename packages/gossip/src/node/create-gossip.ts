import type { Clock, MaybePromise, Observer } from '@sluice/limiter-core'
import { badOption, clockOf, type Duration, Observers, optionsOf, parseTimerMs } from '@sluice/limiter-core/backend'
import { MessageSeal } from '../exchange/message-seal.ts'
import { type GossipPeers, PeerList } from '../exchange/peer-list.ts'
import { GossipNode } from './gossip-node.ts'

export interface GossipOptions {
  /**
   * The other replicas: addresses served by their `handler`, or custom transports; or a function that returns the
   * current list, such as a DNS lookup, called each time a peer is selected. The list may include this replica. A few
   * peers are enough if they know the others.
   */
  readonly peers: GossipPeers | (() => MaybePromise<GossipPeers>)
  /**
   * Secret shared by the whole fleet, at least 16 bytes. Messages sealed with another secret are rejected. Required if
   * a peer address is not on this machine.
   */
  readonly secret?: string | undefined
  /** Interval between exchanges with a randomly selected peer. Default: 100 ms. */
  readonly tickMs?: Duration | undefined
  /** Timeout of one exchange. Default: 1 s. */
  readonly waitMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /** Random numbers from 0 (inclusive) to 1 (exclusive) that select the next peer. Default: `Math.random`. */
  readonly random?: (() => number) | undefined
  /** Receive `backendFailed` for each failed exchange and each rejected message. */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['peers', 'secret', 'tickMs', 'waitMs', 'clock', 'random', 'observers'] as const

/**
 * Creates one replica of a fleet that shares state without a server. At each tick it sends a random peer the items that
 * the peer lacks and receives the items that it lacks itself (push-pull anti-entropy; Demers et al., Epidemic
 * algorithms, 1987), so all replicas have an item after about log n ticks (Karp et al., Randomized rumor spreading,
 * 2000). `gossipChannel`, `gossipCounters` and `gossipBackend` are built on it.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function createGossip(options: GossipOptions): GossipNode {
  const {
    peers,
    secret,
    tickMs = 100,
    waitMs = 1_000,
    clock,
    random = Math.random,
    observers,
  } = optionsOf('createGossip', options, OPTIONS)
  if (!Array.isArray(peers) && typeof peers !== 'function') {
    throw badOption('createGossip: peers', peers, 'an array of addresses, or a function that returns one')
  }
  if (typeof random !== 'function') throw badOption('createGossip: random', random, 'a function')
  const ownClock = clockOf(clock)
  const seal = new MessageSeal(secret, ownClock)
  return new GossipNode({
    peers: new PeerList({ peers, seal, random }),
    seal,
    clock: ownClock,
    tickMs: parseTimerMs(tickMs, 'createGossip: tickMs'),
    waitMs: parseTimerMs(waitMs, 'createGossip: waitMs'),
    observers: new Observers(observers),
  })
}
