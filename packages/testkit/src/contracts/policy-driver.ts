import type { CompiledPolicy, Verdict } from '@sluice/limiter-core/backend'

/** Guard cells before and after those of the key under test, to detect that a policy writes outside of its own. */
const MARGIN = 3
const MARK = 4_711

/** Runs one key of a compiled policy as a backend would. */
export class PolicyDriver {
  readonly compiled: CompiledPolicy
  readonly cells: Float64Array
  readonly at: number = MARGIN
  readonly #numbers = new Float64Array(4)

  constructor(compiled: CompiledPolicy) {
    this.compiled = compiled
    this.cells = new Float64Array(compiled.cells + 2 * MARGIN).fill(MARK)
    this.reset()
  }

  /** Resets the key. */
  reset(): void {
    this.cells.fill(0, this.at, this.at + this.compiled.cells)
  }

  /** Spends `cost` if it fits. */
  take(now: number, cost: number): Verdict {
    const retryAfterMs = this.compiled.waitMs(this.cells, this.at, now, cost)
    if (retryAfterMs === 0) this.compiled.spend(this.cells, this.at, now, cost)
    return this.#verdict(now, retryAfterMs)
  }

  /** Same as `take`, by the method `take` of the policy. */
  takeInOnePass(now: number, cost: number): Verdict {
    this.compiled.take(this.cells, this.at, now, cost, this.#numbers)
    const [retryAfterMs, remaining, resetAfterMs, availableAfterMs] = this.#numbers
    return { allowed: retryAfterMs === 0, remaining, retryAfterMs, resetAfterMs, availableAfterMs }
  }

  /** Returns what `take` would return. */
  peek(now: number, cost: number): Verdict {
    return this.#verdict(now, this.compiled.waitMs(this.cells, this.at, now, cost))
  }

  /** Charges or refunds units; returns the units that were applied. */
  adjust(now: number, units: number, takenAt: number): number {
    return units === 0 ? 0 : this.compiled.adjust(this.cells, this.at, now, units, takenAt)
  }

  /** Adopts the usage known to another backend. */
  adopt(now: number, used: number, resetAfterMs: number): void {
    this.compiled.adopt(this.cells, this.at, now, used, resetAfterMs)
  }

  /** The same key counted by another policy over the same cells: the limit was changed. */
  under(compiled: CompiledPolicy): PolicyDriver {
    const other = new PolicyDriver(compiled)
    other.cells.set(this.cells.subarray(this.at, this.at + compiled.cells), other.at)
    return other
  }

  /** Cells of others that were written to. */
  get strayWrites(): number {
    const margins = [...this.cells.subarray(0, MARGIN), ...this.cells.subarray(MARGIN + this.compiled.cells)]
    return margins.filter((cell) => cell !== MARK).length
  }

  #verdict(now: number, retryAfterMs: number): Verdict {
    const { capacity } = this.compiled
    const remaining = this.compiled.remaining(this.cells, this.at, now)
    const growsMs = remaining >= capacity ? 0 : this.compiled.waitMs(this.cells, this.at, now, remaining + 1)
    return {
      allowed: retryAfterMs === 0,
      remaining,
      retryAfterMs,
      resetAfterMs: this.compiled.resetAfterMs(this.cells, this.at, now),
      availableAfterMs: growsMs,
    }
  }
}
