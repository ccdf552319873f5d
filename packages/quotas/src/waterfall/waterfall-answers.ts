/** Units of one part of a waterfall. */
export interface WaterfallPart {
  /** Name of the quota or of the credits. */
  readonly name: string
  readonly units: number
}

/** Answer of `take` and `peek` of a waterfall. */
export interface WaterfallDecision {
  readonly allowed: boolean
  /** The units that were requested. */
  readonly units: number
  /** The parts from which units came, in the order of the waterfall; their sum is `units`. Empty if denied. */
  readonly parts: readonly WaterfallPart[]
  /** Units of all parts that could be taken then. */
  readonly remaining: number
  /**
   * Milliseconds until the units fit if nothing else is taken: 0 if allowed, Infinity if they never fit without a
   * top-up or a refund.
   */
  readonly retryAfterMs: number
  /** When the decision was made, in epoch ms of the database's clock. */
  readonly takenAt: number
}

/** Answer of `take` of a waterfall. */
export interface WaterfallTake extends WaterfallDecision {
  /** Identifies the take: the given key, or a random one. */
  readonly idempotencyKey: string
}

/** Answer of `refund` of a waterfall. */
export interface WaterfallRefund {
  /** Units that were given back: fewer than requested if a period is no longer stored, or was refunded otherwise. */
  readonly units: number
  /** The parts that received units, the last part of the waterfall first. */
  readonly parts: readonly WaterfallPart[]
}

/** Answer of `reserve` of a waterfall. */
export interface WaterfallReservation extends WaterfallTake {
  /**
   * When the reservation expires and its units return, in epoch ms of the database's clock. Equal to `takenAt` if
   * denied.
   */
  readonly endsAt: number
}
