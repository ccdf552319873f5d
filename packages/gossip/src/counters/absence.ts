import type { Clock } from '@sluice/limiter-core'

/** Maximum number of nodes whose reports are remembered, the latest ones. */
const MAX_NODES = 1_000

/**
 * The time for which no other replica has reported the log of this one. After a long absence, the others may have taken
 * over its entries and forgotten its name.
 */
export class Absence {
  readonly #clock: Clock
  readonly #longMs: number
  /** Process time and wall time of the last report; undefined if there was none. */
  #heardAt: { readonly now: number; readonly wall: number } | undefined
  /** Clocks of the log that other nodes have reported, the latest report last. */
  readonly #clocks = new Map<string, number>()
  /** Nodes that were cut off together with this one: they have reported its log during the absence. */
  readonly #together = new Set<string>()
  /** Nodes whose knowledge this process has. */
  readonly #met = new Set<string>()
  /** Nodes that cannot have the entries of this process under another name. */
  readonly #cleared = new Set<string>()

  /** `longMs`: time after which the others may take over the entries. */
  constructor(clock: Clock, longMs: number) {
    this.#clock = clock
    this.#longMs = longMs
  }

  /** Largest clock of the log among the replicas that may have taken it over. */
  get reportedClock(): number {
    const clocks = Array.from(this.#clocks, ([node, clock]) => (this.#together.has(node) ? 0 : clock))
    return Math.max(0, ...clocks)
  }

  /** Milliseconds since the last report; 0 if there was none. A suspended machine stops only one of its clocks. */
  get ms(): number {
    if (!this.#heardAt) return 0
    return Math.max(this.#clock.now() - this.#heardAt.now, this.#clock.wall() - this.#heardAt.wall)
  }

  get isLong(): boolean {
    return this.ms >= this.#longMs
  }

  /**
   * This process knows all that a node knows, and no mark has ended that it might lack. `others`: the other live nodes
   * if they are a quorum. The absence ends when most of them were met: one of those was not away, and its marks are known.
   */
  met(
    node: string,
    { hasLog, others }: { readonly hasLog: boolean; readonly others?: readonly string[] | undefined },
  ): void {
    remember(this.#met, node)
    // a node that has the log may have been away, too, and start over
    if (!hasLog) remember(this.#cleared, node)
    const met = others?.filter((one) => this.#met.has(one)) ?? []
    if (others && 2 * (met.length + 1) > others.length + 1) this.end()
  }

  isCleared(node: string): boolean {
    return this.#cleared.has(node)
  }

  /** A node has the log up to `clock`. `isQuorum`: whether most replicas are known to be live. */
  reported(node: string, clock: number, isQuorum: boolean): void {
    this.#clocks.delete(node)
    this.#clocks.set(node, clock)
    const [oldest] = this.#clocks.keys()
    if (this.#clocks.size > MAX_NODES) this.#clocks.delete(oldest)
    if (this.isLong) remember(this.#together, node)
    else if (isQuorum) this.end()
  }

  /** The others have not taken over the entries. */
  end(): void {
    this.#forgetNodes()
    this.#heardAt = { now: this.#clock.now(), wall: this.#clock.wall() }
  }

  /** Starts again for a new log, which no other replica has. */
  restart(): void {
    this.#forgetNodes()
    this.#clocks.clear()
    this.#heardAt = undefined
  }

  #forgetNodes(): void {
    for (const nodes of [this.#cleared, this.#met, this.#together]) nodes.clear()
  }
}

/** Adds a node, or moves it to the end, and forgets the oldest of too many. */
function remember(nodes: Set<string>, node: string): void {
  nodes.delete(node)
  nodes.add(node)
  const [oldest] = nodes
  if (nodes.size > MAX_NODES) nodes.delete(oldest)
}
