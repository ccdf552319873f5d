import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, messageOf, type Observers, repeatEvery, SluiceError } from '@sluice/limiter-core/backend'
import { GossipExchange } from '../exchange/gossip-exchange.ts'
import { gossipHandler } from '../exchange/gossip-handler.ts'
import { itemBytes } from '../exchange/gossip-message.ts'
import type { MessageSeal } from '../exchange/message-seal.ts'
import type { PeerList } from '../exchange/peer-list.ts'
import type { LogItem, ReplicaLog } from '../log/replica-log.ts'
import { ReplicaTable } from '../log/replica-table.ts'
import { GossipMetrics } from './gossip-metrics.ts'
import { type GossipTopic, GossipTopics, logName } from './gossip-topics.ts'
import { PeerExchanges } from './peer-exchanges.ts'

const DROP_MS = 1_000
/**
 * How long the clock of an empty log is kept. If its replica writes again within this time, missed items are reported.
 */
const EMPTY_MS = 3_600_000
const REPLICA_BYTES = 12

interface NodeSettings {
  readonly peers: PeerList
  readonly seal: MessageSeal
  readonly clock: Clock
  readonly tickMs: number
  readonly waitMs: number
  readonly observers: Observers
}

/** Throws `SLUICE_BAD_OPTION` unless `node` is a `GossipNode` of this or another copy of the package. */
export function checkNode(option: string, node: unknown): asserts node is GossipNode {
  const { replica, handler } = Object(node) as Partial<GossipNode>
  if (typeof replica === 'string' && typeof handler === 'function') return
  throw badOption(option, node, 'a node created by createGossip')
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
  readonly clock: Clock
  readonly observers: Observers
  readonly #table: ReplicaTable
  readonly #exchange: GossipExchange
  readonly #peers: PeerExchanges
  readonly #metrics: GossipMetrics
  readonly #topics = new GossipTopics()
  readonly #stops: readonly (() => void)[]
  #isClosed = false

  constructor(settings: NodeSettings) {
    const { peers, clock, seal, tickMs, waitMs, observers } = settings
    this.clock = clock
    this.observers = observers
    this.#table = new ReplicaTable(this.replica, clock.now(), {
      received: (replica, item) => {
        this.#metrics.received(Math.max(0, clock.now() - item.bornAt))
        return this.#topics.received(replica, item)
      },
      missed: (replica) => this.#topics.missed(replica),
      acceptedClock: (replica) => this.#topics.acceptedClock(replica),
      mayIntroduce: (replica, to) => this.#topics.mayIntroduce(replica, to),
      expiresByAge: (replica) => this.#topics.expiresByAge(replica),
      belongs: (replica, item) => this.#topics.belongs(replica, item),
      ignored: (reason) => this.#metrics.ignored(reason),
    })
    this.#metrics = new GossipMetrics(clock, () => this.#table.clocks().size)
    this.#exchange = new GossipExchange(this.#table, seal, clock, {
      beforeExchange: () => this.#topics.beforeExchange(),
      clocksReported: (replica, clocks) => this.#topics.known(replica, clocks),
      transferred: (bytes) => this.#metrics.carried(bytes),
    })
    this.#peers = new PeerExchanges({
      replica: this.replica,
      peers,
      exchange: this.#exchange,
      clock,
      waitMs,
      replied: () => this.#metrics.replied(),
      failed: (error) => {
        this.#metrics.failed(error)
        this.#failed(error)
      },
    })
    this.handler = gossipHandler((message) => this.answer(message), { clock, allowsRemote: seal.hasSecret })
    this.#stops = [repeatEvery(clock, tickMs, () => void this.tick()), repeatEvery(clock, DROP_MS, () => this.#drop())]
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
  get logs(): Pick<ReplicaTable, 'logOf' | 'forget' | 'isBehind' | 'restore' | 'release'> {
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
    if (!this.#peers.isBusy) await this.exchangeWithOne()
  }

  /** Exchanges with a random peer and returns whether another replica replied. Never rejects. */
  async exchangeWithOne(): Promise<boolean> {
    return !this.#isClosed && (await this.#peers.exchangeWithOne())
  }

  /**
   * Exchanges with all peers at once. Returns how many were asked and how many replied; after `close`, none is asked.
   * Never rejects.
   */
  exchangeWithAll(): Promise<{ readonly answered: number; readonly asked: number }> {
    return this.#peers.exchangeWithAll()
  }

  /**
   * Stops after a last exchange with one peer, which then has what this replica wrote. Other exchanges end without a
   * reply. Never rejects.
   */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    // not limited like ticks: all running exchanges may be waiting for unresponsive peers
    await this.exchangeWithOne()
    this.#isClosed = true
    this.#peers.close()
    this.#topics.ended()
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
