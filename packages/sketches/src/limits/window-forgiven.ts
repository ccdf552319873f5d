const WAYS = 4
const BYTES_AN_ENTRY = 24
const UNITS = 0
const SINCE = 1

/**
 * Keys that were reset. A sketch cannot forget a key, because subtracting its estimate would take counts of other
 * keys. Instead, the later takes of a reset key are also counted here, exactly, and the smaller of both counts
 * applies. Neither is ever too low. The number of keys is bounded: a further one replaces the earliest reset, whose
 * units then count again until they leave the window.
 */
export class ForgivenKeys {
  readonly most: number
  readonly #hashes: Int32Array
  /** Units since the reset, and when that was. */
  readonly #numbers: Float64Array
  // after this, nothing that was reset is left in the sketch
  #untilMs = Number.NEGATIVE_INFINITY

  constructor(bytes: number) {
    const sets = 2 ** Math.floor(Math.log2(bytes / BYTES_AN_ENTRY / WAYS))
    this.most = sets * WAYS
    this.#hashes = new Int32Array(2 * this.most)
    this.#numbers = new Float64Array(2 * this.most).fill(Number.NEGATIVE_INFINITY)
  }

  /** Returns the index of a key; -1 if it is not stored. */
  find(low: number, high: number, now: number, keptMs: number): number {
    if (now >= this.#untilMs) return -1
    const first = this.#setOf(low)
    for (let entry = first; entry < first + WAYS; entry++) {
      if (this.#hashes[2 * entry] !== low || this.#hashes[2 * entry + 1] !== high) continue
      return now < this.#numbers[2 * entry + SINCE] + keptMs ? entry : -1
    }
    return -1
  }

  /** Forgives all that a key has used until now. */
  forgive(low: number, high: number, now: number, keptMs: number): void {
    const first = this.#setOf(low)
    let entry = first
    for (let other = first; other < first + WAYS; other++) {
      const same = this.#hashes[2 * other] === low && this.#hashes[2 * other + 1] === high
      if (same || this.since(other) < this.since(entry)) entry = other
      if (same) break
    }
    this.#hashes[2 * entry] = low
    this.#hashes[2 * entry + 1] = high
    this.#numbers[2 * entry + UNITS] = 0
    this.#numbers[2 * entry + SINCE] = now
    this.#untilMs = Math.max(this.#untilMs, now + keptMs)
  }

  /** Units that a key has taken since it was reset. */
  unitsOf(entry: number): number {
    return this.#numbers[2 * entry + UNITS]
  }

  /** When a key was reset. */
  since(entry: number): number {
    return this.#numbers[2 * entry + SINCE]
  }

  /** Adds or refunds units, never below 0; returns the units that were applied. */
  move(entry: number, units: number): number {
    const before = this.unitsOf(entry)
    const after = Math.max(0, before + units)
    this.#numbers[2 * entry + UNITS] = after
    return after - before
  }

  #setOf(low: number): number {
    return (low & (this.most / WAYS - 1)) * WAYS
  }
}
