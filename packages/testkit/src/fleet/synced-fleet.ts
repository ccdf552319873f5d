import {
  MemorySyncLedger,
  type SyncAnswer,
  type SyncBatch,
  SyncingBackend,
  type SyncLedger,
  type SyncOptions,
  syncTermsOf,
} from '@sluice/fleet/sync'
import {
  type Counter,
  createLimiter,
  type Decision,
  type Limiter,
  type PolicyInput,
  type SyncLimiterOptions,
} from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { openedCounter } from '../contracts/opened-counters.ts'
import { FakeClock } from '../fake-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { NodeClock } from './node-clock.ts'
import { sentAnswer, sentBatch } from './sync-message.ts'

/** Faults of messages between processes and their ledger. */
export interface Network {
  /** One-way delay in ms. */
  readonly delayMs: number
  /** The part of messages that is lost, each way; default: 0. */
  readonly loss?: number
  /** The part of messages that arrives twice, the second time late; default: 0. */
  readonly doubles?: number
}

export interface SyncedFleetOptions {
  readonly nodes: number
  readonly policy: PolicyInput
  readonly network: Network
  readonly random: SeededRandom
  readonly sync?: SyncOptions | undefined
  readonly onBackendError?: 'allow' | 'deny' | 'local' | undefined
  /** Clock rate of a node. Default: 1. */
  readonly rateOf?: ((node: number) => number) | undefined
  /** Additional policies of all nodes. */
  readonly morePolicies?: readonly PolicyInput[] | undefined
}

/** One process of a fleet. */
export interface FleetNode {
  readonly clock: NodeClock
  readonly backend: SyncingBackend
  readonly limiter: Limiter<Decision>
}

/** Processes in virtual time that report to one ledger over a network. */
export class SyncedFleet {
  readonly clock: FakeClock = new FakeClock({ nowMs: 1_000_000 })
  readonly ledger: MemorySyncLedger
  readonly #nodes: FleetNode[]
  /** Messages that reached the ledger. */
  exchanges = 0
  /** Cuts all ways to the ledger. */
  isCut = false
  readonly #options: SyncedFleetOptions
  readonly #random: SeededRandom
  readonly #network: Network
  readonly #counters: readonly Counter[]
  #hasArrived = false

  constructor(options: SyncedFleetOptions) {
    const { random, network } = options
    this.#options = options
    this.#random = random
    this.#network = network
    this.ledger = new MemorySyncLedger(this.clock)
    this.#nodes = Array.from({ length: options.nodes }, (_, node) => this.#start(options, node))
    const [{ backend, limiter }] = this.#nodes
    this.#counters = limiter.policies.map((policy) => openedCounter(backend, 'default', policy))
  }

  get nodes(): readonly FleetNode[] {
    return this.#nodes
  }

  /** Kills a node, including everything unreported, and starts an empty one in its place. */
  restart(node: number): void {
    this.#nodes[node].clock.stop()
    this.#nodes[node] = this.#start(this.#options, node)
  }

  /** Lets time pass, and everything that it brings happen. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.now() + ms
    await this.settle()
    while (this.clock.now() < untilMs) {
      // replies may set timers
      this.clock.advance(Math.min(1, untilMs - this.clock.now()))
      if (this.#hasArrived) await this.settle()
    }
  }

  /** Waits for promises that are ready to settle. */
  async settle(): Promise<void> {
    this.#hasArrived = false
    await new Promise<void>((resolve) => afterThisTurn(resolve))
  }

  /** Units of a key that the ledger has counted, of the policy at that place. */
  used(key: string, policy = 0): number {
    return this.ledger.used({ key, counter: this.#counters[policy] })
  }

  /** Returns the units in the ledger's cells of a window, including those above its limit. */
  units(key: string, policy = 0): number {
    const counter = this.#counters[policy]
    const { instants = [] } = counter.compiled
    const takes = [{ key, counter, takes: [] }]
    const [cells] = this.ledger.exchange('reader', { partition: 0, number: 0, takes }).cells as [readonly number[]]
    return cells.reduce((sum, cell, at) => (instants.includes(at) ? sum : sum + cell), 0)
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.nodes.map(({ backend }) => backend.close()))
    // each direction first settles pending promises
    for (let passedMs = 0; passedMs < 2_000; passedMs += 10) await this.pass(10)
    await closed
  }

  #start({ policy, morePolicies = [], sync = {}, ...options }: SyncedFleetOptions, node: number): FleetNode {
    const { nodes, onBackendError = 'local', rateOf = () => 1, random } = options
    const clock = new NodeClock(this.clock, rateOf(node))
    const ledger = this.#connected(this.ledger.join(), clock)
    const terms = syncTermsOf('fleet', { nodes, ...sync })
    const rule = { source: onBackendError }
    const backend = new SyncingBackend({ name: 'synced', ledger, terms, rule, clock, random: () => random.next() })
    const policies = [policy, ...morePolicies].map((one) => ({ ...one, backend }))
    const limiter = createLimiter({ policies, clock, scope: 'default' } as SyncLimiterOptions)
    return { clock, backend, limiter }
  }

  #connected(ledger: SyncLedger, node: NodeClock): SyncLedger {
    // like the Redis ledger, instants are converted by the clock difference at the time of sending
    const aheadMs = (): number => node.now() - this.clock.now()
    const exchange = async (batch: SyncBatch, deadlineAt: number): Promise<SyncAnswer> => {
      const sent = sentBatch(batch, -aheadMs())
      const answer = await this.#carry(node, () => ledger.exchange(sent, deadlineAt), deadlineAt)
      return sentAnswer(sent, answer, aheadMs())
    }
    return {
      partitions: ledger.partitions,
      partitionOf: (key) => ledger.partitionOf(key),
      exchange,
      resetAll: (keys) => this.#carry(node, () => ledger.resetAll(keys), node.now() + 1_000),
      nodes: async () => this.nodes.length,
    }
  }

  /** Brings a message there and its answer back. */
  #carry<T>(node: NodeClock, deliver: () => Promise<T>, deadlineAt: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const arrive = (settle: () => void): void => {
        this.#hasArrived = true
        node.deliver(settle)
      }
      const cancelDeadline = this.clock.after(deadlineAt - node.now(), () =>
        arrive(() => reject(Object.assign(new Error('late'), { code: 'LATE' }))),
      )
      if (this.isCut || this.#happens(this.#network.loss)) return
      const there = (): void => {
        this.exchanges++
        this.#hasArrived = true
        void deliver().then((answer) => {
          if (this.isCut || this.#happens(this.#network.loss)) return
          this.clock.after(this.#network.delayMs, () => {
            cancelDeadline()
            arrive(() => resolve(answer))
          })
        })
      }
      this.clock.after(this.#network.delayMs, there)
      if (this.#happens(this.#network.doubles)) this.clock.after(this.#network.delayMs + this.#random.whole(400), there)
    })
  }

  #happens(part = 0): boolean {
    return part > 0 && this.#random.next() < part
  }
}
