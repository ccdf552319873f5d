/** Units of a key that a call has held, and that a later call extends, settles or releases. */
export interface Held {
  /** Integer, at least 0. */
  readonly units: number
  /** Time of the backend at which they return. */
  readonly endsAt: number
}

/** How a charge changes the held units of its key. */
export interface HoldChange {
  /** Units held by an earlier call, which this charge replaces. Default: none. */
  readonly from?: Held | undefined
  /** Milliseconds for which a take holds the cost, at most `Policy.maxHoldMs`. Adjustments spend the cost. */
  readonly forMs: number
}
