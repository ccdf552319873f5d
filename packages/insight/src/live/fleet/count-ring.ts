/**
 * Counts of the last `size` steps of `stepMs` each, stored as uint32 (4 bytes per step). A count saturates at 2^32 - 1.
 * If the clock is set back, amounts are added to the newest step until the clock has caught up.
 */
export class CountRing {
  readonly #counts: Uint32Array
  readonly #stepMs: number
  #newest = Number.NEGATIVE_INFINITY

  constructor(size: number, stepMs: number) {
    this.#counts = new Uint32Array(size)
    this.#stepMs = stepMs
  }

  add(amount: number, at: number): void {
    const place = this.#advance(at)
    this.#counts[place] = Math.min(this.#counts[place] + amount, 0xffffffff)
  }

  /** Raises the count of the step that contains `at` to at least `value`. */
  raise(value: number, at: number): void {
    const place = this.#advance(at)
    this.#counts[place] = Math.max(this.#counts[place], value)
  }

  /** Returns the counts of the last `steps` steps up to and including the step of `at`, oldest first. */
  values(steps: number, at: number): number[] {
    const last = this.#stepOf(at)
    return Array.from({ length: steps }, (_, index) => this.#countOf(last - steps + 1 + index))
  }

  sum(steps: number, at: number): number {
    return this.values(steps, at).reduce((total, count) => total + count, 0)
  }

  #stepOf(at: number): number {
    return Math.floor(at / this.#stepMs)
  }

  #countOf(step: number): number {
    const size = this.#counts.length
    return step > this.#newest || step <= this.#newest - size ? 0 : this.#counts[step % size]
  }

  #advance(at: number): number {
    const step = this.#stepOf(at)
    const size = this.#counts.length
    if (step >= this.#newest + size) this.#counts.fill(0)
    else for (let passed = this.#newest + 1; passed <= step; passed++) this.#counts[passed % size] = 0
    this.#newest = Math.max(this.#newest, step)
    return this.#newest % size
  }
}
