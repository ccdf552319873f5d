import { availableAfterMs, type Step, type Verdict } from '@sluice/limiter-core'

/** Cells before and after those of the key under test, to see that a step stays within its own. */
const MARGIN = 3
const MARK = 4_711

/** One key of a step, on its own: what a backend does around a step, without the backend. */
export class StepDriver {
  readonly step: Step
  readonly cells: Float64Array
  readonly at: number = MARGIN

  constructor(step: Step) {
    this.step = step
    this.cells = new Float64Array(step.cells + 2 * MARGIN).fill(MARK)
    this.reset()
  }

  /** As good as new. */
  reset(): void {
    this.cells.fill(0, this.at, this.at + this.step.cells)
  }

  /** Spends `cost` if it fits. */
  take(now: number, cost: number): Verdict {
    const retryAfterMs = this.step.waitMs(this.cells, this.at, now, cost)
    if (retryAfterMs === 0) this.step.spend(this.cells, this.at, now, cost)
    return this.#verdict(now, retryAfterMs)
  }

  /** What `take` would answer. */
  peek(now: number, cost: number): Verdict {
    return this.#verdict(now, this.step.waitMs(this.cells, this.at, now, cost))
  }

  /** Charges or refunds units; returns those that found their place. */
  adjust(now: number, units: number, takenAt: number): number {
    return units === 0 ? 0 : this.step.adjust(this.cells, this.at, now, units, Math.min(now, takenAt))
  }

  /** Takes over what another backend knew. */
  adopt(now: number, used: number, resetAfterMs: number): void {
    this.step.adopt(this.cells, this.at, now, used, resetAfterMs)
  }

  /** The same key counted by another step over the same cells: the limit was changed. */
  under(step: Step): StepDriver {
    const other = new StepDriver(step)
    other.cells.set(this.cells.subarray(this.at, this.at + step.cells), other.at)
    return other
  }

  /** Cells of others that were written to. */
  get strayWrites(): number {
    const margins = [...this.cells.subarray(0, MARGIN), ...this.cells.subarray(MARGIN + this.step.cells)]
    return margins.filter((cell) => cell !== MARK).length
  }

  #verdict(now: number, retryAfterMs: number): Verdict {
    const remaining = this.step.remaining(this.cells, this.at, now)
    return {
      allowed: retryAfterMs === 0,
      remaining,
      retryAfterMs,
      resetAfterMs: this.step.resetAfterMs(this.cells, this.at, now),
      availableAfterMs: availableAfterMs(this.step, this.cells, this.at, now, remaining),
    }
  }
}
