import type { CompiledPolicy, Counter, LimitOverrides } from '../contracts.ts'
import { badValue } from '../errors/bad-option.ts'

/**
 * The counters of one policy: one for its configured limit and window, and one for each limit and window that an
 * override, an operator or a request has instead. Counters of one window use the same cells.
 */
export interface LimitCounters {
  /** Counter of the configured limit and window. */
  readonly own: Counter
  /** One counter for each window, with cells of its own. */
  readonly windows: readonly Counter[]
  /**
   * Opens the counter of a limit and a window, which is by default the window of the policy. Throws a `SluiceError` if
   * the policy or its backend does not support them.
   */
  prepare(limit: number, windowMs?: number): void
  /** Returns the counter of a limit and a window; undefined if it was not prepared. */
  of(limit: number, windowMs?: number): Counter | undefined
}

/** Returns the counter of a limit and a window, opened if necessary; undefined if the policy cannot have them. */
export function preparedCounter(counters: LimitCounters, limit: number, windowMs: number): Counter | undefined {
  const known = counters.of(limit, windowMs)
  if (known) return known
  try {
    counters.prepare(limit, windowMs)
  } catch {
    return undefined
  }
  return counters.of(limit, windowMs)
}

/** Counters that a backend opened. */
export class OpenLimitCounters implements LimitCounters {
  readonly own: Counter
  readonly #compile: (limit: number, windowMs: number) => CompiledPolicy
  readonly #open: (compiled: CompiledPolicy) => Counter
  /** By window, then by limit. */
  readonly #counters: Map<number, Map<number, Counter>>

  constructor(
    own: Counter,
    compile: (limit: number, windowMs: number) => CompiledPolicy,
    open: (compiled: CompiledPolicy) => Counter,
  ) {
    const { limit, windowMs } = own.compiled.policy
    this.own = own
    this.#compile = compile
    this.#open = open
    this.#counters = new Map([[windowMs, new Map([[limit, own]])]])
  }

  get windows(): readonly Counter[] {
    return [...this.#counters.values()].map((byLimit) => [...byLimit.values()][0])
  }

  prepare(limit: number, windowMs: number = this.own.compiled.policy.windowMs): void {
    if (this.of(limit, windowMs)) return
    const compiled = this.#compile(limit, windowMs)
    const { policy } = this.own.compiled
    const { cells, room } = this.#compile(Math.min(limit, policy.limit), windowMs)
    if (compiled.cells !== cells || compiled.room !== room) {
      const expected = `at most ${policy.limit}, the capacity of its log`
      throw badValue('SLUICE_BAD_LIMIT', `policy '${policy.name}': limit`, limit, expected)
    }
    const counter = this.#open(compiled)
    const byLimit = this.#counters.get(windowMs)
    if (byLimit) byLimit.set(limit, counter)
    else this.#counters.set(windowMs, new Map([[limit, counter]]))
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

  of(limit: number, windowMs: number = this.own.compiled.policy.windowMs): Counter | undefined {
    return this.#counters.get(windowMs)?.get(limit)
  }

  close(): void {
    for (const byLimit of this.#counters.values()) for (const counter of byLimit.values()) counter.close?.()
    this.#counters.clear()
  }
}
