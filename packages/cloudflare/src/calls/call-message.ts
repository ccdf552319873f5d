/** Identifies the format of calls and replies. */
export const MARK = 'sluice.object@1'

export const OPERATIONS = { take: 0, peek: 1, adjust: 2, reset: 3 } as const

/** The body of a call. JSON has no Infinity: null is Infinity in numbers that may be infinite. */
export interface CallMessage {
  readonly mark: typeof MARK
  /** Time of the object after which nothing is counted, in ms; null for none. */
  readonly deadline: number | null
  /** Time to use instead of the object's, in ms; null for none. */
  readonly given: number | null
  /** Whether the reply waits until the counts are stored. */
  readonly durable: boolean
  /** Policies, each a `SentPolicy` as JSON, so that the object compiles each text only once. */
  readonly policies: readonly string[]
  /** Names of the stored entries. */
  readonly names: readonly string[]
  readonly requests: readonly SentRequest[]
}

/** A request: operation, time of the take that is adjusted, idempotency id or '', and charges. */
type SentRequest = readonly [operation: number, takenAt: number, id: string, charges: readonly SentCharge[]]

/** A charge: index of its name, index of its policy, cost, 1 if it is advisory, and prior usage. */
export type SentCharge = readonly [name: number, policy: number, cost: number, advisory: 0 | 1, known?: SentUsage]

/** `ReportedNumbers`, with times of the object. Null is Infinity. */
export type SentUsage = readonly [
  used: number,
  resetAfterMs: number | null,
  usedAt: number | null,
  uncounted: number,
  unsure: number,
  upTo: number,
  admittedAt: number,
]

/** The reply to a call. */
export interface ReplyMessage {
  readonly mark: typeof MARK
  /** Whether the deadline had passed, so that nothing was counted. */
  readonly late: boolean
  /** Time of the object in ms at which it decided. */
  readonly now: number
  /** Time of the object in ms before which counts may have been lost. */
  readonly lostBefore: number
  /**
   * Answers in the order of the requests: for each charge of an adjustment first the units that were applied, then for
   * each charge the remaining units, and the wait, `resetAfterMs` and `availableAfterMs` in ms. Null instead of an
   * answer: the stored state of a key is invalid.
   */
  readonly answers: readonly (readonly (number | null)[] | null)[]
}
