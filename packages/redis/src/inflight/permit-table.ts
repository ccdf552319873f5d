import { type Cap, MaxHoldTimers } from '@sluice/limiter-core/backend'
import { HoldTimes } from './hold-times.ts'
import { KeyPermits, type KeyPermitsDeps } from './key-permits.ts'

export interface PermitTableOptions extends Omit<KeyPermitsDeps, 'holdTimes' | 'maxHoldTimers'> {
  /** Default for caps without `maxHoldMs`. */
  readonly maxHoldMs: number | undefined
  /** Returns the Redis key for a key of a cap. */
  readonly nameOf: (key: string, cap: Cap) => string
}

/** Permits of this process for all keys. A key is stored only while it has places or a record on the server. */
export class PermitTable {
  readonly #options: PermitTableOptions
  readonly #deps: KeyPermitsDeps
  /** Entries by Redis key. */
  readonly #all = new Map<string, KeyPermits>()

  constructor(options: PermitTableOptions) {
    this.#options = options
    this.#deps = { ...options, holdTimes: new HoldTimes(), maxHoldTimers: new MaxHoldTimers(options.clock) }
  }

  [Symbol.iterator](): IterableIterator<KeyPermits> {
    return this.#all.values()
  }

  get first(): KeyPermits | undefined {
    return this.#all.values().next().value
  }

  /** Returns the permits of a key. Creates an empty entry if there is none. */
  of(key: string, cap: Cap): KeyPermits {
    const name = this.#options.nameOf(key, cap)
    const known = this.#all.get(name)
    if (known) {
      // an operator may have changed the limit
      known.cap = cap
      return known
    }
    const maxHoldMs = cap.maxHoldMs ?? this.#options.maxHoldMs
    const holding = new KeyPermits(this.#deps, { key, name, cap, maxHoldMs })
    this.#all.set(name, holding)
    return holding
  }

  /** Removes a key if it is idle. */
  prune(holding: KeyPermits): void {
    if (holding.idle(this.#deps.clock.now())) this.#all.delete(holding.name)
  }

  /** Stops the timers and reports zero places for every key from now on. */
  leave(): void {
    this.#deps.maxHoldTimers.close()
    for (const holding of this) holding.stopReporting()
  }
}
