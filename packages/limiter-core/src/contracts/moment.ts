import type { ObservedRequest } from './observer.ts'

/**
 * Clock reading of the caller, so that the clock is read once per request. Backends with their own clock ignore
 * `now`.
 */
export interface Moment {
  readonly now?: number
  /** Time after which the caller no longer waits: a command that arrives later must do nothing. */
  readonly deadlineAt?: number
  /** For `adjust`: the failure rule decided the take, so the backend has not counted it. */
  readonly uncounted?: boolean
  /**
   * For `adjust`: a caller that does not know whether an adjustment was applied may repeat it with the same key. A
   * remote backend applies it once for each of its charges, and rejects it with `LATE` once the key is 30 seconds
   * old. Other backends do not need it.
   */
  readonly idempotencyKey?: IdempotencyKey
  /** For a take: the request, for observers. */
  readonly request?: ObservedRequest
}

/** Identifies a command, so that a repeated command can be recognised. */
export interface IdempotencyKey {
  /** Unlike all others. */
  readonly id: string
  /** Process time of the first attempt. */
  readonly issuedAt: number
}
