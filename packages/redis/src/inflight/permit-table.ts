import { type Cap, MaxHoldTimers } from '@sluice/limiter-core/backend'
import { HoldTimes } from './hold-times.ts'
import { KeyPermits, type KeyPermitsDeps } from './key-permits.ts'

export interface PermitTableOptions extends Omit<KeyPermitsDeps, 'holdTimes' | 'maxHoldTimers'> {
  /** For caps without their own maximum. */
  readonly maxHoldMs: number | undefined
  /** Returns the name under which the server stores a key of a cap. */
  readonly nameOf: (key: string, cap: Cap) => string
}

/** All that a process holds. A key costs memory only while it holds a place, or the server may think so. */
export class PermitTable {
  readonly #options: PermitTableOptions
  readonly #means: KeyPermitsDeps
  /** By stored name. */
  readonly #all = new Map<string, KeyPermits>()

  constructor(options: PermitTableOptions) {
    this.#options = options
    this.#means = { ...options, holdTimes: new HoldTimes(), maxHoldTimers: new MaxHoldTimers(options.clock) }
  }

  [Symbol.iterator](): IterableIterator<KeyPermits> {
    return this.#all.values()
  }

  get first(): KeyPermits | undefined {
    return this.#all.values().next().value
  }

  /** Returns the holding of a key, possibly an empty one. */
  of(key: string, cap: Cap): KeyPermits {
    const name = this.#options.nameOf(key, cap)
    const known = this.#all.get(name)
    if (known) return known
    const maxHoldMs = cap.maxHoldMs ?? this.#options.maxHoldMs
    const holding = new KeyPermits(this.#means, { key, name, cap, maxHoldMs })
    this.#all.set(name, holding)
    return holding
  }

  /** Removes a key if nothing is held and nothing has to be reported. */
  prune(holding: KeyPermits): void {
    if (holding.idle(this.#means.clock.now())) this.#all.delete(holding.name)
  }

  /** Ends the timers. From now on nothing is claimed of the server. */
  leave(): void {
    this.#means.maxHoldTimers.close()
    for (const holding of this) holding.leave()
  }
}
