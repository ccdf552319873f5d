/**
 * What was counted in each of the last `size` steps of `stepMs`, as uint32: 4 bytes a step, whatever comes. A step holds
 * at most 2^32 - 1. Of a clock that was set back, what comes counts in the newest step until it is passed again.
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

  /** The step of `at` holds `value` at least. */
  raise(value: number, at: number): void {
    const place = this.#advance(at)
    this.#counts[place] = Math.max(this.#counts[place], value)
  }

  /** Of the `steps` until `at`, the one of `at` included; oldest first. */
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
