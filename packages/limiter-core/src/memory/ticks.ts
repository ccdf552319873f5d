/** Milliseconds of one tick of expiry; 30 bits of ticks reach 4.3 years, and what would end later ends then. */
const TICK_MS = 128
const LAST_TICK = 2 ** 30 - 1

/** The lowest bit of an expiry in a slot: the tail remembered the key when it came into the slot. */
export const RECALLED = 1

/**
 * Time as slots keep it, from the first reading of whatever clock. An expiry is a tick shifted left by one, so that
 * expiries compare as their ticks do and leave a bit of a slot free.
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

  /** The expiry of a key that is as good as new at `endsAt`: the end of its tick, so that nothing moves when read back. */
  until(endsAt: number): number {
    return 2 * Math.max(1, Math.min(LAST_TICK, Math.ceil((endsAt - this.#originMs) * (1 / TICK_MS))))
  }

  /** When a key of this expiry is as good as new. */
  endOf(expiry: number): number {
    return this.#originMs + (expiry >> 1) * TICK_MS
  }
}
