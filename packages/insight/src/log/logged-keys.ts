import { createHash } from 'node:crypto'

/** Keys that have a line in one second; of more the next line tells how many lines there were not. */
const MOST = 1_000
const LONGEST = 128
const SECOND_MS = 1_000

/** Who had a line in this second. Memory is fixed: 1,000 keys of 128 characters. */
export class LoggedKeys {
  readonly #keys: Set<string> = new Set()
  #second = Number.NaN
  #suppressed = 0

  /** Whether the key may have a line now: the first time in a second of the clock. */
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

  /** Denials that had no line since this was last asked. */
  takeSuppressed(): number {
    const suppressed = this.#suppressed
    this.#suppressed = 0
    return suppressed
  }
}
