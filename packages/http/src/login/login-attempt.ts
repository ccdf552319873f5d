import type { ProofChallenge } from './tasks.ts'

/**
 * The failures that decided: of the account, the address, its network or the device. `pressure` and `slow-pressure`: of
 * all unknown devices together. `solved`: of those that had solved a task.
 */
export type LoginReason = 'account' | 'address' | 'network' | 'device' | 'pressure' | 'slow-pressure' | 'solved'

/** An attempt whose password may be checked. */
export interface AllowedLogin {
  readonly outcome: 'allow'
  /** Whether the client sent a valid device cookie of this account. */
  readonly known: boolean
  /**
   * Call it if the password was right. Takes back the failure that the attempt was counted as, and returns a new value
   * for the device cookie; undefined if the attempt had no account. Further calls return the same promise. An attempt
   * for which it is not called remains a failure. If the login has changed the `version` of the account, pass the new
   * one. Default: the version of the attempt.
   */
  succeeded(changed?: { readonly version: string }): Promise<string | undefined>
}

/** An attempt that must not reach the password check until the client has passed a check. */
export interface ChallengedLogin {
  readonly outcome: 'challenge'
  readonly reason: LoginReason
  /** Time in ms after which an attempt without a check would be allowed, if no other attempts fail. */
  readonly retryAfterMs: number
  /** The task of the built-in proof of work; undefined if the client must pass the check of the application. */
  readonly challenge: ProofChallenge | undefined
}

/** An attempt that must not reach the password check. */
export interface DeniedLogin {
  readonly outcome: 'deny'
  readonly reason: LoginReason
  /** Time in ms after which an attempt would be allowed, if no other attempts fail. */
  readonly retryAfterMs: number
}

export type LoginAttempt = AllowedLogin | ChallengedLogin | DeniedLogin
