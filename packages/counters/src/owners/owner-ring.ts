import { HashRing } from '@sluice/fleet/backend'
import type { Clock } from '@sluice/limiter-core/backend'

/** Virtual nodes of each node. With n nodes, the share of one has a standard deviation of √((n - 1) / 100) / n. */
const VIRTUAL_NODES = 100

/** Assigns each id to an owner: the first node on a hash ring that is not down. */
export class OwnerRing {
  readonly #names: readonly string[]
  readonly #clock: Clock
  readonly #downMs: number
  /** Time until which a node is considered down. */
  readonly #downUntil = new Map<string, number>()
  #ring: HashRing
  #ringOf: string

  /** `names`: all nodes, the same on each node. Throws `SLUICE_BAD_OPTION`. */
  constructor(names: readonly string[], { clock, downMs }: { readonly clock: Clock; readonly downMs: number }) {
    this.#names = names
    this.#clock = clock
    this.#downMs = downMs
    this.#ring = new HashRing(names, { nodes: VIRTUAL_NODES })
    this.#ringOf = names.join()
  }

  /** Returns the owner of an id, or undefined if all nodes are down. */
  ownerOf(id: string): string | undefined {
    const up = this.up
    if (up.length === 0) return undefined
    if (up.join() !== this.#ringOf) {
      this.#ring = new HashRing(up, { nodes: VIRTUAL_NODES })
      this.#ringOf = up.join()
    }
    return this.#ring.serverOf(id)
  }

  /** Considers a node down for `downMs`, so that its ids belong to the next node on the ring. */
  markDown(name: string): void {
    this.#downUntil.set(name, this.#clock.now() + this.#downMs)
  }

  get up(): readonly string[] {
    const now = this.#clock.now()
    return this.#names.filter((name) => (this.#downUntil.get(name) ?? Number.NEGATIVE_INFINITY) <= now)
  }

  get down(): readonly string[] {
    const up = new Set(this.up)
    return this.#names.filter((name) => !up.has(name))
  }
}
