import type { Counter, LimitOverrides } from '../contracts.ts'
import { clientKeyOf } from '../keys/preflight.ts'
import type { LimitCounters } from './limit-counters.ts'

/** Finds the counters of keys that have limits of their own. */
export class OverrideCounters {
  readonly #limits: LimitOverrides
  readonly #counters: LimitCounters
  #leave: (() => void) | undefined

  constructor(limits: LimitOverrides, counters: LimitCounters) {
    this.#limits = limits
    this.#counters = counters
  }

  /** Whether keys without an override are exempt from the policy. */
  get exemptsOthers(): boolean {
    return this.#limits.others === 'exempt'
  }

  /** The limit of a key's own; undefined where it has none. */
  limitOf(key: string): number | undefined {
    return this.#limits.limitOf(clientKeyOf(key))
  }

  /** Who counts a key, also one that is exempt and may have been counted before. */
  counterOf(key: string): Counter {
    const limit = this.limitOf(key)
    return (limit === undefined ? undefined : this.#counters.of(limit)) ?? this.#counters.own
  }

  isExempt(key: string): boolean {
    return this.exemptsOthers && this.limitOf(key) === undefined
  }

  /** From now on opens counters before keys have their limits. Throws where one cannot be opened, of limits that do not change. */
  join(): void {
    this.#leave = this.#limits.join((limits) => {
      for (const limit of limits) this.#counters.prepare(limit)
    })
  }

  /** The same, over counters in front of these. */
  inFront(counters: LimitCounters): OverrideCounters {
    return new OverrideCounters(this.#limits, counters)
  }

  close(): void {
    this.#leave?.()
  }
}
