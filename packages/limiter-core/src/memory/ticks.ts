/** Milliseconds per expiry tick. 30 bits of ticks reach 4.3 years; later times are reduced to that. */
const TICK_MS = 128
const LAST_TICK = 2 ** 30 - 1

/** Lowest bit of an expiry in a slot: set if the tail remembered the key when the key was inserted. */
export const RECALLED = 1

/**
 * Time as stored in slots, relative to the first clock reading. An expiry is a tick shifted left by one, so that
 * expiries compare like ticks and leave one bit free.
 */
export class Ticks {
  #originMs = Number.NaN

  startAt(now: number): void {
    if (Number.isNaN(this.#originMs)) this.#originMs = now
  }

  /** The least expiry of keys that are live at `now`. 0 is an empty slot. */
  at(now: number): number {
    return 2 * Math.max(1, Math.min(LAST_TICK - 1, Math.floor((now - this.#originMs) * (1 / TICK_MS)) + 1))
  }

  /**
   * Returns the expiry of a key that is unused at `endsAt`: the end of its tick, so that reading it back changes
   * nothing.
   */
  until(endsAt: number): number {
    return 2 * Math.max(1, Math.min(LAST_TICK, Math.ceil((endsAt - this.#originMs) * (1 / TICK_MS))))
  }

  /** When a key of this expiry is as good as new. */
  endOf(expiry: number): number {
    return this.#originMs + (expiry >> 1) * TICK_MS
  }
}
