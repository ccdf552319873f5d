import { RemoteFailure, type RemoteFailureOptions } from '@sluice/fleet/backend'

/**
 * A failed call to Redis. `code` is one of:
 *
 * - the first word of a Redis error: `OOM`, `READONLY`, `LOADING`, `BUSY`, `MISCONF`, `NOAUTH`, `NOPERM`, `WRONGTYPE`,
 *   `CLUSTERDOWN`, …, `ERR` for a general error, or `LEASED` from the scripts of Sluice;
 * - `MAXCLIENTS`: Redis does not accept more clients;
 * - `HTTP`: a gateway in front of Redis answered instead of it, or refused the token;
 * - `CONNECTION`: nothing was sent, or the connection broke before the reply was received;
 * - `LATE`: the deadline had passed.
 *
 * There is no `cause`, because the errors of ioredis contain the command with its arguments, such as keys and
 * passwords.
 */
export class RedisFailure extends RemoteFailure {
  /** `keyOnly` also if only the cluster node that holds the key failed. Default: true for `WRONGTYPE`. */
  constructor(code: string, message: string, options: Omit<RemoteFailureOptions, 'cause'> = {}) {
    const { keyOnly = code === 'WRONGTYPE', mayHaveCounted } = options
    super(code, message, { keyOnly, mayHaveCounted })
    this.name = 'RedisFailure'
  }
}

/** Codes of failures without a reply of the server. */
const NO_REPLY_CODES: readonly string[] = ['CONNECTION', 'LATE']

/** Converts the rejection value of a client into a `RedisFailure`. */
export function failureOf(error: unknown): RedisFailure {
  try {
    if (error instanceof RedisFailure) return error
    const { message, code } = error as NodeJS.ErrnoException
    // if all addresses of a host refuse the connection, Node reports an error with a code and an empty message
    const text = message || code
    if (typeof text === 'string') {
      const named = codeOf(text)
      return new RedisFailure(named, text, { mayHaveCounted: NO_REPLY_CODES.includes(named) })
    }
  } catch {
    // any value can be thrown, for example undefined or an object whose getters throw
  }
  const message = 'the client rejected with a value that is not an error'
  return new RedisFailure('CONNECTION', message, { mayHaveCounted: true })
}

/** Creates the failure of a call that reached Redis after its deadline. */
export function lateFailure(): RedisFailure {
  return new RedisFailure('LATE', 'the call reached Redis after its deadline and was not executed')
}

/** Creates the failure of a call without a reply, which Redis may have executed. */
export function unansweredFailure(): RedisFailure {
  return new RedisFailure('LATE', 'Redis did not reply in time', { mayHaveCounted: true })
}

/** Creates the failure of a call whose connection broke. Redis may have executed it. */
export function brokenFailure(): RedisFailure {
  const message = 'the connection to Redis broke before the reply was received'
  return new RedisFailure('CONNECTION', message, { mayHaveCounted: true })
}

/** Creates the failure of a call whose reply does not have the format of the script. Redis may have executed it. */
export function invalidReply(): RedisFailure {
  return new RedisFailure('ERR', 'the reply of the script has an unexpected format', { mayHaveCounted: true })
}

/** Returns a failure as one that concerns only this key or the cluster node that holds it. */
export function keyOnlyFailure({ code, message, mayHaveCounted }: RedisFailure): RedisFailure {
  return new RedisFailure(code, message, { keyOnly: true, mayHaveCounted })
}

/** Creates a failure from the text of a Redis error, which scripts receive from `pcall`. */
export function failureOfText(text: string): RedisFailure {
  return new RedisFailure(codeOf(text), text)
}

function codeOf(message: string): string {
  if (/max number of clients/i.test(message)) return 'MAXCLIENTS'
  // message of the `commandTimeout` of ioredis
  if (message === 'Command timed out') return 'LATE'
  // the code is preceded by a description if the error occurred inside a script or after too many redirections
  const named = /^(?:-?|.*(?:Last error: ReplyError: |@user_script: ?\d+: ))([A-Z]{3,}) /.exec(message)
  return named ? named[1] : 'CONNECTION'
}
