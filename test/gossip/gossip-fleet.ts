import { createGossip, type GossipNode, type GossipPeer } from '@sluice/gossip'
import { FakeClock, type SeededRandom } from '@sluice/testkit'

export interface GossipNetwork {
  /** Share of messages and answers that are lost: 0 to 1. */
  readonly loss?: number
  /** Share of pushes that arrive twice. */
  readonly doubles?: number
  /** Longest delay of a message, in ms. */
  readonly delayMs?: number
}

const TICK_MS = 100

/** Replicas in one process, on one clock, over a simulated network with random losses. */
export class GossipFleet {
  readonly clock = new FakeClock()
  readonly nodes: GossipNode[] = []
  /** Bytes of messages and answers that arrived. */
  bytes = 0
  readonly #random: SeededRandom
  readonly #network: Required<GossipNetwork>
  /** Network side of each node. Messages between different sides are lost. */
  readonly #sides = new Map<string, number>()
  readonly #killed = new Set<string>()

  constructor(random: SeededRandom, { loss = 0, doubles = 0, delayMs = 0 }: GossipNetwork = {}) {
    this.#random = random
    this.#network = { loss, doubles, delayMs }
  }

  start(): GossipNode {
    const node = createGossip({
      peers: () => this.#peersOf(node),
      clock: this.clock,
      tickMs: TICK_MS,
      random: () => this.#random.whole(2 ** 30) / 2 ** 30,
    })
    this.nodes.push(node)
    return node
  }

  /** Ends without notifying the others. */
  kill(node: GossipNode): void {
    this.#killed.add(node.replica)
    this.leave(node)
  }

  /** Closes gracefully. */
  leave(node: GossipNode): void {
    this.nodes.splice(this.nodes.indexOf(node), 1)
    void node.close()
  }

  /** Splits the fleet in two: `isOther` selects the nodes of the second side. */
  part(isOther: (index: number) => boolean): void {
    for (const [index, { replica }] of this.nodes.entries()) this.#sides.set(replica, isOther(index) ? 1 : 0)
  }

  /** Moves a node to the side of another node. */
  join({ replica }: GossipNode, other: GossipNode): void {
    this.#sides.set(replica, this.#sides.get(other.replica) ?? 0)
  }

  heal(): void {
    this.#sides.clear()
  }

  /** Advances the clock and delivers pending messages. */
  async run(ms: number, stepMs = 10): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(stepMs, left))
      await settled()
    }
  }

  /** Runs until `holds` returns true. Returns how long this took in ms. Throws after `mostMs`. */
  async until(holds: () => boolean, mostMs: number): Promise<number> {
    const from = this.clock.now()
    while (!holds()) {
      if (this.clock.now() - from >= mostMs) throw new Error(`it did not come about within ${mostMs} ms`)
      await this.run(10)
    }
    return this.clock.now() - from
  }

  async stop(): Promise<void> {
    const closed = Promise.all(this.nodes.map((node) => node.close()))
    await this.run(2_000, 500)
    await closed
  }

  /** The other running nodes, as `from` reaches them. */
  #peersOf(from: GossipNode): GossipPeer[] {
    const others = this.nodes.filter((node) => node !== from)
    return others.map((to) => ({ name: to.replica, exchange: (message) => this.#exchange(from, to, message) }))
  }

  async #exchange(from: GossipNode, to: GossipNode, message: Uint8Array): Promise<Uint8Array> {
    await this.#travel()
    if (this.#isCut(from.replica, to.replica)) return never()
    const answer = to.answer(message)
    if (this.#chance(this.#network.doubles)) to.answer(message)
    await this.#travel()
    this.bytes += message.length + answer.length
    return this.#isCut(from.replica, to.replica) ? never() : answer
  }

  /** Rejects like a broken connection if the message is lost. */
  async #travel(): Promise<void> {
    const { delayMs, loss } = this.#network
    if (delayMs > 0) await new Promise<void>((resolve) => this.clock.after(this.#random.whole(delayMs), resolve))
    if (this.#chance(loss)) throw new Error('lost')
  }

  #isCut(from: string, to: string): boolean {
    if (this.#killed.has(from) || this.#killed.has(to)) return true
    return (this.#sides.get(from) ?? 0) !== (this.#sides.get(to) ?? 0)
  }

  #chance(part: number): boolean {
    return part > 0 && this.#random.whole(1_000_000) < part * 1_000_000
  }
}

function never(): Promise<never> {
  return new Promise(() => {})
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}
