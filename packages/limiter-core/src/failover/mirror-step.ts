import { forgetsMs } from '../algorithms/forgets-ms.ts'
import { algorithms } from '../algorithms/index.ts'
import type { Known, Policy, Step, StepVariant } from '../contracts.ts'

// what a sum of scaled costs may be off without turning away the last one that is due
const ROUNDING = 1e-12
const EPSILON = 1e-6
const SCALED_BURST: readonly string[] = ['token-bucket', 'gcra']

/**
 * A step that counts in this process what a backend counts for all: cells of the step and one more, the generation of
 * the answer that they come from, 0 where the key was decided here since. A share is a scale of costs: with a fourth of
 * the limit every unit counts four, so that what a backend told needs no conversion, and what is told to it none either.
 */
export class MirrorStep implements Step {
  readonly policy: Policy
  readonly version: number
  readonly cells: number
  /** Units that this process gives to a fresh key. */
  readonly capacity: number
  /** Units that the backend gives to a fresh key. */
  readonly fullCapacity: number
  /** How long what is known of a key can matter. */
  readonly forgetsMs: number
  readonly variants: readonly StepVariant[] | undefined
  readonly #inner: Step
  /** Units of the backend that one unit here stands for. */
  readonly #scale: number
  readonly #mark: number
  readonly #whole: boolean
  readonly #told: Pick<Step, 'adopt'> = { adopt: (...told) => this.#adoptTold(...told) }
  #generation = 0

  constructor(step: Step, share: number) {
    const { policy } = step
    const limit = part(policy.limit, share)
    this.policy = policy
    this.version = step.version
    this.#mark = step.cells
    this.cells = step.cells + 1
    this.capacity = part(step.capacity, share)
    this.fullCapacity = step.capacity
    this.forgetsMs = forgetsMs(step)
    this.variants = step.variants
    this.#scale = limit === policy.limit ? 1 : (policy.limit / limit) * (1 - ROUNDING)
    // an entry of a log stands for a whole unit
    this.#whole = policiesOf(step).some(({ algorithm }) => algorithm === 'sliding-log')
    // a small burst would round to more or less than its share of the rate: it is what the scaled units need
    const rescaled = this.#scale !== 1 && SCALED_BURST.includes(policy.algorithm) && !step.variants
    const burst = (this.capacity * policy.limit) / limit
    this.#inner = rescaled ? algorithms[policy.algorithm].compile({ ...policy, burst }) : step
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    return this.#inner.waitMs(cells, at, now, this.#scaled(cost))
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    this.#inner.spend(cells, at, now, this.#scaled(cost))
    cells[at + this.#mark] = 0
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    cells[at + this.#mark] = 0
    return this.#inner.adjust(cells, at, now, this.#scaled(units), takenAt) / this.#scale
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const left = this.#inner.remaining(cells, at, now)
    if (this.#scale === 1) return left
    let units = Math.min(this.capacity, Math.floor(left / this.#scale))
    while (units < this.capacity && this.waitMs(cells, at, now, units + 1) === 0) units++
    return units
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return this.#inner.resetAfterMs(cells, at, now)
  }

  keptMs(cells: Float64Array, at: number, now: number): number {
    const { keptMs = this.#inner.resetAfterMs } = this.#inner
    return keptMs.call(this.#inner, cells, at, now)
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    this.#inner.adopt(cells, at, now, this.#scaled(used), resetAfterMs)
    cells[at + this.#mark] = 0
  }

  /** Adopts what the backend told in a generation, in units of the backend. Holds until it is asked for again. */
  told(generation: number): Pick<Step, 'adopt'> {
    this.#generation = generation
    return this.#told
  }

  /** What a backend may not know of a key: nothing where it is fresh, or comes from an answer of this generation. */
  untold(cells: Float64Array, at: number, now: number, generation: number): Known | undefined {
    if (cells[at + this.#mark] === generation) return undefined
    const used = this.#used(cells, at, now)
    const resetAfterMs = this.#inner.resetAfterMs(cells, at, now)
    return used > 0 && resetAfterMs > 0 ? { used, resetAfterMs } : undefined
  }

  #adoptTold(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    // the backend does not know yet what was decided here since
    if (cells[at + this.#mark] !== this.#generation && this.#used(cells, at, now) > used) return
    this.#inner.adopt(cells, at, now, used, resetAfterMs)
    cells[at + this.#mark] = this.#generation
  }

  /** Whole units of the backend. */
  #used(cells: Float64Array, at: number, now: number): number {
    return Math.floor(this.#inner.capacity - this.#inner.remaining(cells, at, now) + EPSILON)
  }

  #scaled(units: number): number {
    if (this.#scale === 1) return units
    const scaled = units * this.#scale
    return this.#whole ? Math.sign(scaled) * Math.ceil(Math.abs(scaled)) : scaled
  }
}

function policiesOf({ policy, variants }: Step): readonly Policy[] {
  return variants?.map(({ step }) => step.policy) ?? [policy]
}

/** A part of a limit in whole units, at least one. */
function part(units: number, share: number): number {
  return Math.max(1, Math.floor(units * share + EPSILON))
}
