import type { Backend, Clock, Duration, FailoverOptions, MaybePromise, Observer } from '@sluice/limiter-core'
import type { ProofOptions } from './proof-of-work.ts'

/** At most `limit` failures per `window`. */
export interface FailureLimit {
  /** Failures, an integer from 1. */
  readonly limit: number
  readonly window: Duration
}

/** Limits for failures of unknown devices: above `challenge`, attempts are challenged; above `deny`, denied. */
export interface FailureLimits {
  readonly challenge?: FailureLimit | undefined
  readonly deny?: FailureLimit | undefined
}

/** A check of the application, for example a captcha. Returns whether the client has passed it; a rejection is false. */
export type LoginCheck = (request: LoginRequest) => MaybePromise<boolean>

/** Options of the built-in proof of work, and what follows it. */
export interface LoginProofOptions extends ProofOptions {
  /**
   * Called for attempts that have solved a task, while more than `slowPressure` of these fail: then bots solve the tasks.
   * Default: a proof of work is all that is asked.
   */
  readonly check?: LoginCheck | undefined
}

/** One attempt to log in. */
export interface LoginRequest {
  /**
   * Name of the account, in one spelling for each account (see `emailKey`), whether or not the account exists. Undefined
   * if the client sent no valid name; such an attempt counts for its address.
   */
  readonly account: string | undefined
  /** Address of the client, as for `clientKey`. */
  readonly address: string | undefined
  /** Value of the device cookie that the client sent. Anything but a valid cookie of this account is ignored. */
  readonly device?: unknown
  /**
   * Text that changes with the password of the account, for example its stored hash: cookies that were issued for
   * another version are ignored. It is signed, and never stored or sent. Default: cookies outlive passwords.
   */
  readonly version?: string | undefined
  /** Answer to a challenge that the client sent. Anything but a valid answer is ignored. */
  readonly proof?: unknown
  /** For the check of the application, for example the token of a captcha. Not read by `protectLogin`. */
  readonly token?: unknown
}

/** Options of `protectLogin`. */
export interface LoginOptions extends FailoverOptions {
  /**
   * Secret for cookies and proofs, at least 16 characters, the same in all processes. Of a list, the first one signs and
   * all are accepted, so that a secret can be replaced.
   */
  readonly secret: string | readonly string[]
  /** Name of the form, for example `reset`: start of the names of its policies. Default: `login`. */
  readonly name?: string | undefined
  /** Failures of unknown devices for each account. Default: 5 per hour are challenged, 30 per day denied. */
  readonly account?: FailureLimits | undefined
  /** Failures of unknown devices for each address (IPv6: /56). Default: 30 per hour are challenged, 200 per day denied. */
  readonly address?: FailureLimits | undefined
  /** Networks that count as one client each in addition, as CIDR ranges; IPv6: at most /56. Default: none. */
  readonly networks?: readonly string[] | undefined
  /** Failures of unknown devices for each of the `networks`. Default: 100 per hour are challenged, 1,000 per day denied. */
  readonly network?: FailureLimits | undefined
  /** Failures for each device that has logged in before. Above the limit, the device is denied. Default: 10 per hour. */
  readonly device?: FailureLimit | undefined
  /**
   * Failures of all unknown devices together, without the usual ones. Above the limit, attempts of unknown devices are
   * challenged. Default: 50 per 10 minutes.
   */
  readonly pressure?: FailureLimit | undefined
  /**
   * Likewise over a long time, for attacks that stay below `pressure`. Challenges that are not solved do not count, so
   * that a fast attack does not challenge people for a day. Default: 100 per day.
   */
  readonly slowPressure?: FailureLimit | undefined
  /**
   * Usual failures of unknown devices per success of one, from 0.001 to 1: only failures above this part are pressure.
   * Default: 0.1.
   */
  readonly usualFailures?: number | undefined
  /**
   * Time after which a device must log in again to be known, up to 366 days. An account is familiar at an address for as
   * long after a login. Default: 90 days.
   */
  readonly deviceTtl?: Duration | undefined
  /**
   * What a challenged client must do. Default: a proof of work. A function is a check of the application instead. With
   * `check`, it follows a proof of work that does not keep bots away.
   */
  readonly challenge?: LoginProofOptions | LoginCheck | undefined
  /** Stores the counts. Default: the memory of this process. */
  readonly backend?: Backend | undefined
  /** Namespace of the counts on the backend, as for `createLimiter`. */
  readonly scope?: string | undefined
  readonly clock?: Clock | undefined
  readonly observers?: readonly Observer[] | undefined
}
