import type { CompiledPolicy, Counter, LimitOverrides } from '../contracts.ts'
import { badValue } from '../errors/bad-option.ts'

/**
 * The counters of one policy: one for its configured limit, and one for each limit that an override or an operator
 * sets instead. All of them use the same cells.
 */
export interface LimitCounters {
  /** Counter of the configured limit. */
  readonly own: Counter
  /** Opens the counter of a limit. Throws a `SluiceError` if the policy or its backend does not support the limit. */
  prepare(limit: number): void
  /** Returns the counter of a limit; undefined if it was not prepared. */
  of(limit: number): Counter | undefined
}

/** Counters that a backend opened. */
export class OpenLimitCounters implements LimitCounters {
  readonly own: Counter
  readonly #compile: (limit: number) => CompiledPolicy
  readonly #open: (compiled: CompiledPolicy) => Counter
  readonly #others = new Map<number, Counter>()

  constructor(own: Counter, compile: (limit: number) => CompiledPolicy, open: (compiled: CompiledPolicy) => Counter) {
    this.own = own
    this.#compile = compile
    this.#open = open
  }

  prepare(limit: number): void {
    if (this.of(limit)) return
    const compiled = this.#compile(limit)
    const { cells, room, policy } = this.own.compiled
    if (compiled.cells !== cells || compiled.room !== room) {
      const expected = `at most ${policy.limit}, the capacity of its log`
      throw badValue('SLUICE_BAD_LIMIT', `policy '${policy.name}': limit`, limit, expected)
    }
    this.#others.set(limit, this.#open(compiled))
  }

  /**
   * Opens the counters of all override limits, and of new ones before they apply. Throws if a fixed limit is not
   * possible. Returns a function that ends this.
   */
  follow(overrides: LimitOverrides): () => void {
    return overrides.register((limits) => {
      for (const limit of limits) this.prepare(limit)
    })
  }

  of(limit: number): Counter | undefined {
    return limit === this.own.compiled.policy.limit ? this.own : this.#others.get(limit)
  }

  close(): void {
    for (const counter of this.#others.values()) counter.close?.()
    this.#others.clear()
    this.own.close?.()
  }
}
