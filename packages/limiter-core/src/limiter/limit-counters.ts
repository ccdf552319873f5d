import type { CompiledPolicy, Counter } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'

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
      throw new SluiceError(
        'SLUICE_BAD_LIMIT',
        `policy '${policy.name}': limit: expected at most ${policy.limit}, the capacity of its log, received ${limit}`,
      )
    }
    this.#others.set(limit, this.#open(compiled))
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

/** Wraps each counter of a policy in another counter, such as a failover counter. */
export class FrontLimitCounters implements LimitCounters {
  readonly own: Counter
  readonly #behind: LimitCounters
  readonly #frontOf: (counter: Counter) => Counter
  readonly #fronts = new Map<Counter, Counter>()

  constructor(behind: LimitCounters, frontOf: (counter: Counter) => Counter) {
    this.own = frontOf(behind.own)
    this.#behind = behind
    this.#frontOf = frontOf
    this.#fronts.set(behind.own, this.own)
  }

  prepare(limit: number): void {
    this.#behind.prepare(limit)
  }

  of(limit: number): Counter | undefined {
    const counter = this.#behind.of(limit)
    if (!counter) return undefined
    const front = this.#fronts.get(counter) ?? this.#frontOf(counter)
    this.#fronts.set(counter, front)
    return front
  }
}
