import { type Cap, HoldBound } from '@sluice/limiter-core'
import { HoldTimes } from './inflight-hold-times.ts'
import { Holding, type HoldingMeans } from './inflight-holding.ts'

export interface HoldingsOptions extends Omit<HoldingMeans, 'boundOf' | 'holdTimes'> {
  /** Of caps that have no bound of their own. */
  readonly maxHoldMs: number | undefined
  /** The name under which the server keeps a key of a cap. */
  readonly nameOf: (key: string, cap: Cap) => string
}

/** All that a process holds. A key costs memory only while it holds a place, or the server may think so. */
export class Holdings {
  readonly #options: HoldingsOptions
  readonly #means: HoldingMeans
  /** By the name of what is stored. */
  readonly #all = new Map<string, Holding>()
  readonly #bounds = new Map<number, HoldBound>()

  constructor(options: HoldingsOptions) {
    this.#options = options
    this.#means = { ...options, holdTimes: new HoldTimes(), boundOf: (maxHoldMs) => this.#boundOf(maxHoldMs) }
  }

  [Symbol.iterator](): IterableIterator<Holding> {
    return this.#all.values()
  }

  get first(): Holding | undefined {
    return this.#all.values().next().value
  }

  /** What is held of a key, which may be nothing yet. */
  of(key: string, cap: Cap): Holding {
    const name = this.#options.nameOf(key, cap)
    const known = this.#all.get(name)
    if (known) return known
    const maxHoldMs = cap.maxHoldMs ?? this.#options.maxHoldMs
    const holding = new Holding(this.#means, { key, name, cap, maxHoldMs })
    this.#all.set(name, holding)
    return holding
  }

  /** Forgets a key of which nothing is held and nothing is to be said. */
  prune(holding: Holding): void {
    if (holding.idle(this.#means.clock.now())) this.#all.delete(holding.name)
  }

  /** Ends the timers. From now on nothing is claimed of the server. */
  leave(): void {
    for (const bound of this.#bounds.values()) bound.close()
    for (const holding of this) holding.leave()
  }

  #boundOf(maxHoldMs: number): HoldBound {
    const bound = this.#bounds.get(maxHoldMs) ?? new HoldBound(this.#means.clock, maxHoldMs)
    this.#bounds.set(maxHoldMs, bound)
    return bound
  }
}
