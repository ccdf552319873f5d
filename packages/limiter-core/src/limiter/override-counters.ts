import type { Counter, LimitOverrides } from '../contracts.ts'
import { clientKeyOf } from '../keys/preflight.ts'

/** The counters of a policy whose keys have limits of their own: one for each limit, all of one count. */
export class OverrideCounters {
  readonly #limits: LimitOverrides
  readonly #own: Counter
  readonly #open: (limit: number) => Counter | undefined
  readonly #counters = new Map<number, Counter>()
  #leave: (() => void) | undefined

  /** `own` counts keys without an override. `open` answers undefined where there is no counter of a limit. */
  constructor(limits: LimitOverrides, own: Counter, open: (limit: number) => Counter | undefined) {
    this.#limits = limits
    this.#own = own
    this.#open = open
  }

  /** Whether keys without an override are exempt from the policy. */
  get exemptsOthers(): boolean {
    return this.#limits.others === 'exempt'
  }

  /** Who counts a key, also one that is exempt and may have been counted before. */
  counterOf(key: string): Counter {
    const limit = this.#limits.limitOf(clientKeyOf(key))
    return limit === undefined ? this.#own : (this.#of(limit) ?? this.#own)
  }

  isExempt(key: string): boolean {
    return this.exemptsOthers && this.#limits.limitOf(clientKeyOf(key)) === undefined
  }

  /** From now on opens counters before keys have their limits. Throws where one cannot be opened, of limits that do not change. */
  join(): void {
    this.#leave = this.#limits.join((limits) => {
      for (const limit of limits) this.#of(limit)
    })
  }

  /** The same with another counter in front of each. */
  inFront(own: Counter, frontOf: (counter: Counter) => Counter): OverrideCounters {
    return new OverrideCounters(this.#limits, own, (limit) => {
      const counter = this.#counters.get(limit)
      return counter && frontOf(counter)
    })
  }

  close(): void {
    this.#leave?.()
    for (const counter of this.#counters.values()) counter.close?.()
    this.#counters.clear()
  }

  #of(limit: number): Counter | undefined {
    if (limit === this.#own.compiled.policy.limit) return this.#own
    const known = this.#counters.get(limit)
    if (known) return known
    const counter = this.#open(limit)
    if (counter) this.#counters.set(limit, counter)
    return counter
  }
}
