/** A row of the database as this process last saw it. */
export interface KeyState {
  /** Version of the row, unique for each write; '0' for a key without a row. */
  readonly version: string
  readonly cells: Float64Array
  /** Server time of the last reset: usage known from before is invalid. 0 without a reset. */
  readonly resetAt: number
  /** Server time of the last refund: usage that was reported before may contain the refunded units. 0 without one. */
  readonly refundedAt: number
}

/** A key without a row. */
export const ABSENT: KeyState = { version: '0', cells: new Float64Array(0), resetAt: 0, refundedAt: 0 }

/** Most keys whose states are kept. With 64 cells or less, which is usual, they need less than 10 MB. */
const MOST_KEYS = 10_000

/** The rows that this process has seen last, so that a decision needs no statement that reads. */
export class KeyStates {
  readonly #states = new Map<string, KeyState>()

  /** Returns the state of a row. A row that is unknown is assumed to be absent. */
  of(name: string): KeyState {
    return this.#states.get(name) ?? ABSENT
  }

  set(name: string, state: KeyState): void {
    // the first entry of a map is the oldest
    this.#states.delete(name)
    this.#states.set(name, state)
    if (this.#states.size > MOST_KEYS) this.#states.delete(this.#states.keys().next().value as string)
  }

  clear(): void {
    this.#states.clear()
  }
}
