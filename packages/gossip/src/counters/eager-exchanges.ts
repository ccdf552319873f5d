import type { GossipNode } from '../node/gossip-node.ts'

/** Maximum number of consecutive exchanges for waiting callers; after that, they depend on the regular ticks. */
const MAX_ASKS = 16

/** Exchanges with peers between the ticks, while callers wait. */
export class EagerExchanges {
  readonly #node: GossipNode
  readonly #isWaited: () => boolean
  #isAsking = false

  /** `isWaited`: whether a caller waits. */
  constructor(node: GossipNode, isWaited: () => boolean) {
    this.#node = node
    this.#isWaited = isWaited
  }

  /** Exchanges until no caller waits, no peer replies, or `MAX_ASKS` is reached. */
  async run(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    for (let asks = 0; asks < MAX_ASKS && this.#isWaited(); asks++) if (!(await this.#node.exchangeWithOne())) break
    this.#isAsking = false
  }
}
