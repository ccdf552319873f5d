import { type Clock, KEEP_ALIVE } from '@sluice/limiter-core/backend'

/** Maximum number of nodes that are remembered for each log, the latest ones. */
const MAX_NODES = 3_000

interface Waiter {
  readonly log: string
  readonly clock: number
  readonly others: number
  readonly settle: () => void
}

/** Tracks how far other replicas have received the logs of this one, and resolves callers that wait for it. */
export class ReplicationProgress {
  readonly #clock: Clock
  /** Received clocks, by log and node. */
  readonly #clocks = new Map<string, Map<string, number>>()
  readonly #waiters = new Set<Waiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get hasWaiters(): boolean {
    return this.#waiters.size > 0
  }

  /** Records that a node has a log up to `clock`. The oldest of too many nodes is forgotten until it reports again. */
  record(log: string, node: string, clock: number): void {
    const clocks = this.#clocks.get(log) ?? new Map<string, number>()
    this.#clocks.set(log, clocks)
    if (clock <= (clocks.get(node) ?? 0)) return
    clocks.delete(node)
    clocks.set(node, clock)
    const [oldest] = clocks.keys()
    if (clocks.size > MAX_NODES) clocks.delete(oldest)
    for (const waiter of [...this.#waiters]) if (this.#isHeld(waiter)) waiter.settle()
  }

  clockOf(log: string, node: string): number {
    return this.#clocks.get(log)?.get(node) ?? 0
  }

  forget(log: string): void {
    this.#clocks.delete(log)
  }

  /** Forgets all nodes except those in `nodes`. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const clocks of this.#clocks.values()) {
      for (const node of clocks.keys()) if (!nodes.has(node)) clocks.delete(node)
    }
  }

  /** Resolves with true once `others` other nodes have the log up to `clock`, or with false after `waitMs`. */
  whenReplicated(
    log: string,
    clock: number,
    { others, waitMs }: { readonly others: number; readonly waitMs: number },
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isHeld: boolean): void => {
        this.#waiters.delete(waiter)
        cancel()
        resolve(isHeld)
      }
      const cancel = this.#clock.after(waitMs, () => end(false), KEEP_ALIVE)
      const waiter = { log, clock, others, settle: () => end(true) }
      this.#waiters.add(waiter)
      if (this.#isHeld(waiter)) end(true)
    })
  }

  #isHeld({ log, clock, others }: Waiter): boolean {
    let holders = 0
    for (const held of this.#clocks.get(log)?.values() ?? []) if (held >= clock) holders++
    return holders >= others
  }
}
