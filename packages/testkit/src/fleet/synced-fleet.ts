import {
  type Counter,
  createLimiter,
  type Decision,
  type Limiter,
  type PolicyInput,
  type SyncLimiterOptions,
} from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import {
  MemorySyncLedger,
  type SyncBatch,
  SyncingBackend,
  type SyncLedger,
  type SyncOptions,
  syncTermsOf,
} from '@sluice/limiter-core/sync'
import { openedCounter } from '../contracts/opened-counters.ts'
import { FakeClock } from '../fake-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'

/** What happens to messages between processes and their ledger. */
export interface Network {
  /** One way, in ms. */
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
  readonly sync?: SyncOptions
  readonly onBackendError?: 'allow' | 'deny' | 'local'
}

/** One process of a fleet. */
export interface FleetNode {
  readonly backend: SyncingBackend
  readonly limiter: Limiter<Decision>
}

/** Processes in virtual time that report to one ledger over a network. */
export class SyncedFleet {
  readonly clock: FakeClock = new FakeClock({ nowMs: 1_000_000 })
  readonly ledger: MemorySyncLedger
  readonly nodes: readonly FleetNode[]
  /** Messages that reached the ledger. */
  exchanges = 0
  /** Cuts all ways to the ledger. */
  isCut = false
  readonly #random: SeededRandom
  readonly #network: Network
  readonly #counter: Counter
  #hasArrived = false

  constructor({ nodes, policy, network, random, sync = {}, onBackendError = 'local' }: SyncedFleetOptions) {
    this.#random = random
    this.#network = network
    this.ledger = new MemorySyncLedger(this.clock)
    const terms = syncTermsOf('fleet', { nodes, ...sync })
    const rule = { source: onBackendError }
    this.nodes = Array.from({ length: nodes }, (): FleetNode => {
      const ledger = this.#connected(this.ledger.join())
      const { clock } = this
      const backend = new SyncingBackend({ name: 'synced', ledger, terms, rule, clock, random: () => random.next() })
      const options: SyncLimiterOptions = { policies: [{ ...policy, backend }], clock, scope: 'default' }
      return { backend, limiter: createLimiter(options) }
    })
    this.#counter = openedCounter(this.nodes[0].backend, 'default', this.nodes[0].limiter.policies[0])
  }

  /** Lets time pass, and everything that it brings happen. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.now() + ms
    await this.settle()
    while (this.clock.now() < untilMs) {
      // what answers bring about may set timers
      this.clock.advance(Math.min(1, untilMs - this.clock.now()))
      if (this.#hasArrived) await this.settle()
    }
  }

  /** Runs what was promised. */
  async settle(): Promise<void> {
    this.#hasArrived = false
    await new Promise<void>((resolve) => afterThisTurn(resolve))
  }

  /** Units of a key that the ledger has counted. */
  used(key: string): number {
    return this.ledger.used({ key, counter: this.#counter })
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.nodes.map(({ backend }) => backend.close()))
    await this.pass(2_000)
    await closed
  }

  #connected(ledger: SyncLedger): SyncLedger {
    return {
      partitions: ledger.partitions,
      partitionOf: (key) => ledger.partitionOf(key),
      exchange: (batch: SyncBatch, deadlineAt) => this.#carry(() => ledger.exchange(batch, deadlineAt), deadlineAt),
      resetAll: (keys) => this.#carry(() => ledger.resetAll(keys), this.clock.now() + 1_000),
      nodes: async () => this.nodes.length,
    }
  }

  /** Brings a message there and its answer back. */
  #carry<T>(deliver: () => Promise<T>, deadlineAt: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const arrive = (): void => this.#arrived()
      this.clock.after(deadlineAt - this.clock.now(), () => {
        arrive()
        reject(Object.assign(new Error('late'), { code: 'LATE' }))
      })
      if (this.isCut || this.#happens(this.#network.loss)) return
      const there = (): void => {
        this.exchanges++
        void deliver().then((answer) => {
          if (this.isCut || this.#happens(this.#network.loss)) return
          this.clock.after(this.#network.delayMs, () => {
            arrive()
            resolve(answer)
          })
        })
        arrive()
      }
      this.clock.after(this.#network.delayMs, there)
      if (this.#happens(this.#network.doubles)) this.clock.after(this.#network.delayMs + this.#random.whole(400), there)
    })
  }

  #arrived(): void {
    this.#hasArrived = true
  }

  #happens(part = 0): boolean {
    return part > 0 && this.#random.next() < part
  }
}
