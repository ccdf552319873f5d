import type { ObservedRequest } from './observer.ts'

/** Time and context of a backend call. */
export interface Moment {
  /**
   * Clock reading of the caller, so that the clock is read once per request. Backends with their own clock ignore it.
   * Default: the backend reads its clock.
   */
  readonly now?: number
  /** Time after which the caller no longer waits. A command that arrives at a server later must not be executed. */
  readonly deadlineAt?: number
  /** Used by `adjustAll`: whether the failure rule decided the take, so that the backend has not counted it. */
  readonly uncounted?: boolean
  /**
   * Used by `adjustAll`: makes it safe to repeat an adjustment that may have been applied. A remote backend applies
   * each charge once per idempotency key, and rejects with the code `LATE` if the key is older than 30 seconds.
   * Backends that cannot lose a reply ignore it.
   */
  readonly idempotencyKey?: IdempotencyKey
  /** Used by takes: the request, for observers. */
  readonly request?: ObservedRequest
}

/** Identifies a command, so that a repetition of the command is recognised. */
export interface IdempotencyKey {
  /** Globally unique string. */
  readonly id: string
  /** Time of the first attempt, on the clock of this process. */
  readonly issuedAt: number
}
