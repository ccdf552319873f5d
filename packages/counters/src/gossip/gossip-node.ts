import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock, MaybePromise, Metric, MetricSource, Observer } from '@sluice/limiter-core'
import {
  AWAITED,
  badOption,
  clockOf,
  type Duration,
  everyTick,
  messageOf,
  Observers,
  optionsOf,
  parseTimerMs,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { GossipExchange } from './gossip-exchange.ts'
import { gossipHandler } from './gossip-handler.ts'
import { itemBytes } from './gossip-message.ts'
import { GossipMetrics } from './gossip-metrics.ts'
import type { GossipPeer } from './gossip-peer.ts'
import { type GossipTopic, GossipTopics, logName } from './gossip-topics.ts'
import { MessageSeal } from './message-seal.ts'
import { type GossipPeers, PeerList } from './peer-list.ts'
import type { LogItem, ReplicaLog } from './replica-log.ts'
import { ReplicaTable } from './replica-table.ts'

export interface GossipOptions {
  /**
   * The other replicas: addresses at which their `handler` answers, or ways of your own; or a function that answers them
   * now, such as one that asks DNS. This replica may be among them. A few are enough where these know the others.
   */
  readonly peers: GossipPeers | (() => MaybePromise<GossipPeers>)
  /** The same for the whole fleet, 16 bytes or more: others are not heard. Required unless all peers are on this machine. */
  readonly secret?: string | undefined
  /** How often this replica asks one of the others, by chance. Default: 100 ms. */
  readonly tickMs?: Duration | undefined
  /** How long an exchange may take. Default: 1 s. */
  readonly waitMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /** Which peer is next: 0 or more, less than 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined
  /** They hear `backendFailed` for exchanges that failed and messages that were refused. */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['peers', 'secret', 'tickMs', 'waitMs', 'clock', 'random', 'observers'] as const
/** A silent peer holds one of them for `waitMs`. */
const MOST_EXCHANGES = 4
const DROP_MS = 1_000
/** How far an empty log was known is remembered for so long: its replica may write again, and what was missed is told. */
const EMPTY_MS = 3_600_000
const REPLICA_BYTES = 12

/**
 * One replica of a fleet that agrees without a server: each tells one of the others, by chance, what that one lacks and
 * hears what it lacks itself (push-pull anti-entropy; Demers et al., Epidemic algorithms, 1987), so that all know all
 * after about log n ticks (Karp et al., Randomized rumor spreading, 2000). `gossipChannel` stands on it.
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
    throw badOption('createGossip: peers', peers, 'an array of addresses, or a function that answers one')
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

/** Made by `createGossip`. */
export class GossipNode implements MetricSource {
  /** The name of this replica, of this start of it. */
  readonly replica: string = newName()
  /** For `node:http`, Express, Koa and Fastify, as of `counterService`: answers the messages of other replicas. */
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
      limitOf: (replica) => this.#topics.limitOf(replica),
      isAging: (replica) => this.#topics.isAging(replica),
    })
    this.#metrics = new GossipMetrics(clock, () => this.#table.clocks().size)
    this.#exchange = new GossipExchange(this.#table, seal, clock, {
      beforeExchange: () => this.#topics.beforeExchange(),
      known: (replica, clocks) => this.#topics.known(replica, clocks),
      carried: (bytes) => this.#metrics.carried(bytes),
    })
    this.handler = gossipHandler((message) => this.answer(message), { clock, isOpen: seal.hasSecret })
    this.#stops = [everyTick(clock, tickMs, () => void this.tick()), everyTick(clock, DROP_MS, () => this.#drop())]
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

  /** What a message of another replica is answered with, for transports of your own. Throws `SLUICE_BAD_MESSAGE` and `SLUICE_GOSSIP_FORGED`. */
  answer(message: Uint8Array): Uint8Array {
    try {
      this.#metrics.carried({ received: message.byteLength })
      if (this.#isClosed) throw new SluiceError('SLUICE_GOSSIP_UNAVAILABLE', 'gossip: this replica is closed')
      const answer = this.#exchange.answer(message)
      this.#metrics.carried({ sent: answer.byteLength })
      return answer
    } catch (error) {
      this.#metrics.refused(error)
      this.#failed(error)
      throw error
    }
  }

  /** For what stands on a node: hears of all items whose keys begin with `<kind>:`. Throws `SLUICE_BAD_OPTION` where something does. */
  attach(kind: string, topic: GossipTopic): void {
    this.#topics.attach(kind, topic)
  }

  /** Writes an item, which all others will have; `bornAt` is earlier for one that stood in another log. Throws `SLUICE_BAD_MESSAGE` for a key above 1,024 characters, and above 32 KiB of JSON. */
  write(key: string, value: unknown, log?: ReplicaLog, bornAt: number = this.clock.now()): LogItem {
    return this.#table.write({ key, value, bytes: itemBytes(key, value) }, bornAt, log)
  }

  /** The logs as far as they are known here. */
  get logs(): Pick<ReplicaTable, 'logOf' | 'forget' | 'restore' | 'release'> {
    return this.#table
  }

  /** A log beside that of the node, for what stands on it: replicas on which nothing has this kind do not take it over. */
  openLog(kind: string): ReplicaLog {
    return this.#table.open(logName(kind, newName()), this.clock.now())
  }

  /** Asks one of the others, by chance, unless many exchanges wait for answers. Done by itself each `tickMs`; never rejects. */
  async tick(): Promise<void> {
    if (this.#running < MOST_EXCHANGES) await this.askOne()
  }

  /** Asks one of the others, by chance. Answers whether one answered; never rejects. */
  async askOne(): Promise<boolean> {
    return !this.#isClosed && (await this.#ask(() => this.#settings.peers.next()))
  }

  /** Asks all others at once. Answers how many answered, and how many there are; never rejects. */
  async askAll(): Promise<{ readonly answered: number; readonly asked: number }> {
    const { peers } = this.#settings
    const others = await peers.others().catch(() => [])
    const results = await Promise.all(others.map((peer) => this.#ask(async () => peer)))
    return {
      answered: results.filter(Boolean).length,
      asked: others.filter(({ name }) => !peers.isOwn(name)).length,
    }
  }

  /** Tells one of the others what is left, and ends. What this replica wrote lives on in the others. Never rejects. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    // however many exchanges wait for silent peers
    await this.askOne()
    this.#isClosed = true
    this.#topics.ended()
  }

  /** Whether it answered, and is another one. Never rejects. */
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

  /** Undefined where there is nobody to ask, or no time left. */
  async #askPeer(
    next: () => Promise<GossipPeer | undefined>,
    signal: AbortSignal,
  ): Promise<{ readonly name: string; readonly from: string } | undefined> {
    const peer = await next()
    if (!peer || signal.aborted) return undefined
    return { name: peer.name, from: await this.#exchange.ask(peer, signal) }
  }

  async #withinWait<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, waitMs } = this.#settings
    const deadline = new AbortController()
    const late = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener('abort', () => {
        reject(new SluiceError('SLUICE_GOSSIP_UNAVAILABLE', `gossip: got no answer within ${waitMs} ms`))
      })
    })
    const cancel = clock.after(waitMs, () => deadline.abort(), AWAITED)
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
