import { createHash } from 'node:crypto'

/** Maximum number of keys logged per second. Further denials are counted as suppressed. */
const MOST = 1_000
const LONGEST = 128
const SECOND_MS = 1_000

/** Keys that were logged in the current second. Memory is bounded: 1,000 keys of 128 characters. */
export class LoggedKeys {
  readonly #keys: Set<string> = new Set()
  #second = Number.NaN
  #suppressed = 0

  /** Returns whether to log the key now: once per key and clock second. */
  admits(key: string, now: number): boolean {
    const second = Math.floor(now / SECOND_MS)
    if (second !== this.#second) {
      this.#second = second
      this.#keys.clear()
    }
    const kept = key.length <= LONGEST ? key : createHash('sha256').update(key).digest('base64')
    if (this.#keys.has(kept) || this.#keys.size >= MOST) {
      this.#suppressed++
      return false
    }
    this.#keys.add(kept)
    return true
  }

  /** Returns the number of suppressed denials since the last call. */
  takeSuppressed(): number {
    const suppressed = this.#suppressed
    this.#suppressed = 0
    return suppressed
  }
}
