import { type GossipCounters, type GossipNode, gossipCounters } from '@sluice/gossip'
import type { SeededRandom } from '@sluice/testkit'
import { GossipFleet, type GossipNetwork } from '../gossip-fleet.ts'

export interface CountingReplica {
  readonly node: GossipNode
  readonly counters: GossipCounters
}

/** A `GossipFleet` whose replicas have counters. */
export class CountingFleet {
  readonly net: GossipFleet
  readonly replicas: CountingReplica[] = []
  readonly #deadAfterMs: number

  constructor(random: SeededRandom, network: GossipNetwork, deadAfterMs = 60_000) {
    this.net = new GossipFleet(random, network)
    this.#deadAfterMs = deadAfterMs
  }

  start(): CountingReplica {
    const node = this.net.start()
    const replica = { node, counters: gossipCounters(node, { deadAfterMs: this.#deadAfterMs }) }
    this.replicas.push(replica)
    return replica
  }

  /** Ends without notifying the others. */
  kill(replica: CountingReplica): void {
    this.replicas.splice(this.replicas.indexOf(replica), 1)
    this.net.kill(replica.node)
  }

  /** Closes gracefully. */
  async leave(replica: CountingReplica): Promise<void> {
    this.replicas.splice(this.replicas.indexOf(replica), 1)
    let isClosed = false
    void replica.counters
      .close()
      .catch(() => {})
      .finally(() => {
        isClosed = true
      })
    await this.net.until(() => isClosed, 10_000)
    this.net.leave(replica.node)
  }

  /** The distinct values that the replicas report. */
  async values(id: string): Promise<readonly number[]> {
    return Promise.all(this.replicas.map(async ({ counters }) => (await counters.read(id)).value))
  }

  /** The largest number of entries in any replica. */
  entries(id: string): number {
    return Math.max(...this.replicas.map(({ counters }) => counters.entriesOf(id)))
  }

  /** Runs until all replicas have these values. Returns how long this took in ms. Throws after `mostMs`. */
  async agreed(expected: ReadonlyMap<string, number>, mostMs: number): Promise<number> {
    const from = this.net.clock.now()
    while (!(await this.#hasAll(expected))) {
      if (this.net.clock.now() - from >= mostMs) {
        const got = await Promise.all([...expected.keys()].map((id) => this.values(id)))
        throw new Error(`expected ${JSON.stringify([...expected])}, got ${JSON.stringify(got)} after ${mostMs} ms`)
      }
      await this.net.run(10)
    }
    return this.net.clock.now() - from
  }

  async #hasAll(expected: ReadonlyMap<string, number>): Promise<boolean> {
    for (const [id, value] of expected) if ((await this.values(id)).some((one) => one !== value)) return false
    return true
  }
}
