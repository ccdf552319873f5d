import type { Counter, LimitOverrides } from '../contracts.ts'
import { clientKeyOf } from '../keys/preflight.ts'
import { type LimitCounters, preparedCounter } from './limit-counters.ts'

/** Returns the counters of keys that have an override. */
export class OverrideCounters {
  readonly #limits: LimitOverrides
  readonly #counters: LimitCounters

  constructor(limits: LimitOverrides, counters: LimitCounters) {
    this.#limits = limits
    this.#counters = counters
  }

  /** Whether keys without an override are exempt from the policy. */
  get exemptsOthers(): boolean {
    return this.#limits.others === 'exempt'
  }

  /** Returns the override of a key, or undefined. */
  limitOf(key: string): number | undefined {
    return this.#limits.limitOf(clientKeyOf(key))
  }

  /**
   * Returns the counter of a key, even if the key is exempt: it may have been counted before. `other` is the counter of
   * keys without an override; default: that of the policy's limit.
   */
  counterOf(key: string, other: Counter = this.#counters.own): Counter {
    const limit = this.limitOf(key)
    if (limit === undefined) return other
    return preparedCounter(this.#counters, limit, other.compiled.policy.windowMs) ?? other
  }

  isExempt(key: string): boolean {
    return this.exemptsOthers && this.limitOf(key) === undefined
  }

  /** Returns a copy that uses the counters of a front, such as failover counters. */
  inFront(counters: LimitCounters): OverrideCounters {
    return new OverrideCounters(this.#limits, counters)
  }
}
