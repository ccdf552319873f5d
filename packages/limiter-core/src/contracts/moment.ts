import type { ObservedRequest } from './observer.ts'

/** The caller's reading of the clock, so that it is read once a request. Backends with a clock of their own ignore `now`. */
export interface Moment {
  readonly now?: number
  /** After this instant nobody waits for the answer: a command that arrives later must do nothing. */
  readonly deadlineAt?: number
  /** Of `adjust`: the failure rule answered the take, so that the backend knows nothing of it. */
  readonly uncounted?: boolean
  /**
   * Of `adjust`: who cannot know whether an adjustment was made may ask for it again under the same key. A backend over a
   * network makes it once for each of its charges, and refuses it with `LATE` once the key is 30 seconds old. Other
   * backends have no need of it.
   */
  readonly idempotencyKey?: IdempotencyKey
  /** Of a take: whose request it is, for observers. */
  readonly request?: ObservedRequest
}

/** What tells a command that is sent again from another one. */
export interface IdempotencyKey {
  /** Unlike all others. */
  readonly id: string
  /** When it was first asked for, by the process clock. */
  readonly issuedAt: number
}
