import type { CompiledPolicy, Counter } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'

/** The counters of one policy: that of its own limit, and those of limits that keys or operators have instead. All count in the same cells. */
export interface LimitCounters {
  readonly own: Counter
  /** Opens the counter of a limit. Throws a coded error where there can be none. */
  prepare(limit: number): void
  /** That of a limit; undefined where it is not prepared. */
  of(limit: number): Counter | undefined
}

/** Counters of a backend. */
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
        `policy '${policy.name}': limit: expected at most ${policy.limit}, for which its log has room, received ${limit}`,
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

/** Counters with another one in front of each. */
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
