/** Milliseconds in which a held pressure falls to 37 %. */
const FALL_MS = 1_000
/** A pressure below this is 0. */
const LEAST = 0.001

/** A pressure that rises at once and falls slowly, so that decisions do not alternate when a signal is near its end. */
export class HeldPressure {
  #value = 0
  #at = 0

  /** Records a reading, from 0 to 1, and returns the pressure. */
  record(pressure: number, now: number): number {
    const fallen = this.#value * Math.exp((this.#at - now) / FALL_MS)
    this.#value = Math.max(pressure, fallen < LEAST ? 0 : fallen)
    this.#at = now
    return this.#value
  }

  get value(): number {
    return this.#value
  }
}
