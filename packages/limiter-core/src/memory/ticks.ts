/** Milliseconds per expiry tick. 30 bits of ticks are 4.3 years; later times are reduced to that. */
const TICK_MS = 128
const LAST_TICK = 2 ** 30 - 1

/** Lowest bit of an expiry in a slot: set if the tail remembered the key when it was inserted. */
export const RECALLED = 1

/**
 * Converts between clock readings and expiries, which count from the first reading. An expiry is a tick shifted left by
 * one bit: expiries compare like ticks and leave one bit free.
 */
export class Ticks {
  #originMs = Number.NaN

  startAt(now: number): void {
    if (Number.isNaN(this.#originMs)) this.#originMs = now
  }

  /** Returns the smallest expiry of a key that is live at `now`. Expiry 0 marks an empty slot. */
  at(now: number): number {
    return 2 * Math.max(1, Math.min(LAST_TICK - 1, Math.floor((now - this.#originMs) * (1 / TICK_MS)) + 1))
  }

  /** Returns the expiry of a key that is unused at `endsAt`, rounded up to the end of the tick. */
  until(endsAt: number): number {
    return 2 * Math.max(1, Math.min(LAST_TICK, Math.ceil((endsAt - this.#originMs) * (1 / TICK_MS))))
  }

  /** Returns the time at which a key with this expiry is unused. */
  endOf(expiry: number): number {
    return this.#originMs + (expiry >> 1) * TICK_MS
  }
}
