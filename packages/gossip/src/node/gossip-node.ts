import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock, MaybePromise, Metric, MetricSource, Observer } from '@sluice/limiter-core'
import {
  badOption,
  clockOf,
  type Duration,
  KEEP_ALIVE,
  messageOf,
  Observers,
  optionsOf,
  parseTimerMs,
  repeatEvery,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { GossipExchange } from '../exchange/gossip-exchange.ts'
import { gossipHandler } from '../exchange/gossip-handler.ts'
import { itemBytes } from '../exchange/gossip-message.ts'
import type { GossipPeer } from '../exchange/gossip-peer.ts'
import { MessageSeal } from '../exchange/message-seal.ts'
import { type GossipPeers, PeerList } from '../exchange/peer-list.ts'
import type { LogItem, ReplicaLog } from '../log/replica-log.ts'
import { ReplicaTable } from '../log/replica-table.ts'
import { GossipMetrics } from './gossip-metrics.ts'
import { type GossipTopic, GossipTopics, logName } from './gossip-topics.ts'

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
/** Maximum number of concurrent exchanges started by ticks. An unresponsive peer occupies one for `waitMs`. */
const MAX_EXCHANGES = 4
const DROP_MS = 1_000
/**
 * How long the clock of an empty log is kept. If its replica writes again within this time, missed items are reported.
 */
const EMPTY_MS = 3_600_000
const REPLICA_BYTES = 12

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

interface NodeSettings {
  readonly peers: PeerList
  readonly seal: MessageSeal
  readonly clock: Clock
  readonly tickMs: number
  readonly waitMs: number
  readonly observers: Observers
}

/** Replica of a gossip fleet, created by `createGossip`. */
export class GossipNode implements MetricSource {
  /** Random name of this replica. It changes with each start of the process. */
  readonly replica: string = newName()
  /**
   * Request handler that answers the messages of other replicas, for `node:http`, Express, Koa and Fastify; mounted
   * like the handler of `counterService`.
   */
  readonly handler: (req: IncomingMessage, res: ServerResponse) => Promise<void>
  readonly #settings: NodeSettings
  readonly #table: ReplicaTable
  readonly #exchange: GossipExchange
  readonly #metrics: GossipMetrics
  readonly #topics = new GossipTopics()
  readonly #stops: readonly (() => void)[]
  #running = 0
  #isClosed = false

  constructor(settings: NodeSettings) {
    this.#settings = settings
    const { clock, seal, tickMs } = settings
    this.#table = new ReplicaTable(this.replica, clock.now(), {
      received: (replica, item) => {
        this.#metrics.received(Math.max(0, clock.now() - item.bornAt))
        return this.#topics.received(replica, item)
      },
      missed: (replica) => this.#topics.missed(replica),
      acceptedClock: (replica) => this.#topics.acceptedClock(replica),
      expiresByAge: (replica) => this.#topics.expiresByAge(replica),
    })
    this.#metrics = new GossipMetrics(clock, () => this.#table.clocks().size)
    this.#exchange = new GossipExchange(this.#table, seal, clock, {
      beforeExchange: () => this.#topics.beforeExchange(),
      clocksReported: (replica, clocks) => this.#topics.known(replica, clocks),
      transferred: (bytes) => this.#metrics.carried(bytes),
    })
    this.handler = gossipHandler((message) => this.answer(message), { clock, allowsRemote: seal.hasSecret })
    this.#stops = [repeatEvery(clock, tickMs, () => void this.tick()), repeatEvery(clock, DROP_MS, () => this.#drop())]
  }

  get clock(): Clock {
    return this.#settings.clock
  }

  get observers(): Observers {
    return this.#settings.observers
  }

  metrics(): Iterable<Metric> {
    return this.#metrics.metrics()
  }

  /**
   * Processes a message of another replica and returns the reply; for custom transports. Throws `SLUICE_BAD_MESSAGE`,
   * `SLUICE_GOSSIP_FORGED` and, after `close`, `SLUICE_GOSSIP_UNAVAILABLE`.
   */
  answer(message: Uint8Array): Uint8Array {
    try {
      this.#metrics.carried({ received: message.byteLength })
      if (this.#isClosed)
        throw new SluiceError('SLUICE_GOSSIP_UNAVAILABLE', 'gossip: this replica is closed and answers no messages')
      const answer = this.#exchange.answer(message)
      this.#metrics.carried({ sent: answer.byteLength })
      return answer
    } catch (error) {
      this.#metrics.refused(error)
      this.#failed(error)
      throw error
    }
  }

  /**
   * Registers a topic that receives all items whose keys start with `<kind>:`. Throws `SLUICE_BAD_OPTION` if the kind
   * is already registered on this node.
   */
  attach(kind: string, topic: GossipTopic): void {
    this.#topics.attach(kind, topic)
  }

  /**
   * Writes an item, which is replicated to all other replicas. `log` defaults to the log of this node; `bornAt` is
   * earlier than now for an item copied from another log. Throws `SLUICE_BAD_MESSAGE` for a key of more than 1,024
   * characters, and for an item of more than 32 KiB of JSON.
   */
  write(key: string, value: unknown, log?: ReplicaLog, bornAt: number = this.clock.now()): LogItem {
    return this.#table.write({ key, value, bytes: itemBytes(key, value) }, bornAt, log)
  }

  /** Logs of all replicas, as far as this replica has received them. */
  get logs(): Pick<ReplicaTable, 'logOf' | 'forget' | 'restore' | 'release'> {
    return this.#table
  }

  /** Opens another log of this process. Replicas on which no topic has this kind do not replicate it. */
  openLog(kind: string): ReplicaLog {
    return this.#table.open(logName(kind, newName()), this.clock.now())
  }

  /**
   * Exchanges with a random peer, unless 4 exchanges are running. Called automatically every `tickMs`; never rejects.
   */
  async tick(): Promise<void> {
    if (this.#running < MAX_EXCHANGES) await this.exchangeWithOne()
  }

  /** Exchanges with a random peer and returns whether another replica replied. Never rejects. */
  async exchangeWithOne(): Promise<boolean> {
    return !this.#isClosed && (await this.#ask(() => this.#settings.peers.next()))
  }

  /** Exchanges with all peers at once. Returns how many were asked and how many replied. Never rejects. */
  async exchangeWithAll(): Promise<{ readonly answered: number; readonly asked: number }> {
    const { peers } = this.#settings
    const others = await peers.others().catch(() => [])
    const results = await Promise.all(others.map((peer) => this.#ask(async () => peer)))
    return {
      answered: results.filter(Boolean).length,
      asked: others.filter(({ name }) => !peers.isOwn(name)).length,
    }
  }

  /** Stops after a last exchange with one peer, which then has what this replica wrote. Never rejects. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    // not limited by `MAX_EXCHANGES`: all of these may be waiting for unresponsive peers
    await this.exchangeWithOne()
    this.#isClosed = true
    this.#topics.ended()
  }

  /** Returns whether a replica other than this one replied. Never rejects. */
  async #ask(next: () => Promise<GossipPeer | undefined>): Promise<boolean> {
    this.#running++
    try {
      const asked = await this.#withinWait((signal) => this.#askPeer(next, signal))
      if (!asked) return false
      const isOwn = asked.from === this.replica
      this.#settings.peers.answered(asked.name, isOwn)
      if (!isOwn) this.#metrics.exchanged()
      return !isOwn
    } catch (error) {
      this.#metrics.exchanged(error)
      this.#failed(error)
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
    return { name: peer.name, from: await this.#exchange.exchangeWith(peer, signal) }
  }

  async #withinWait<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, waitMs } = this.#settings
    const deadline = new AbortController()
    const late = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener('abort', () => {
        reject(
          new SluiceError(
            'SLUICE_GOSSIP_UNAVAILABLE',
            `gossip: a peer did not reply within ${waitMs} ms; the next tick retries`,
          ),
        )
      })
    })
    const cancel = clock.after(waitMs, () => deadline.abort(), KEEP_ALIVE)
    try {
      return await Promise.race([run(deadline.signal), late])
    } finally {
      cancel()
    }
  }

  #drop(): void {
    const now = this.clock.now()
    this.#table.drop((item, replica) => this.#topics.isOld(item, replica, now), now, EMPTY_MS)
  }

  #failed(error: unknown): void {
    this.observers.event('backendFailed', { backend: 'gossip', name: this.replica, reason: messageOf(error) })
  }
}

function newName(): string {
  return randomBytes(REPLICA_BYTES).toString('base64url')
}
