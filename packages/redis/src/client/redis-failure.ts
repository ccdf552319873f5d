export interface RedisFailureOptions {
  readonly keyOnly?: boolean
  readonly mayHaveCounted?: boolean
}

/**
 * Why Redis gave no answer. `code` is the first word of a Redis error (`OOM`, `READONLY`, `LOADING`, `BUSY`,
 * `MISCONF`, `NOAUTH`, `NOPERM`, `WRONGTYPE`, `LEASED` of the scripts, `CLUSTERDOWN`, ...; `ERR` if it has none), or
 * one of: `MAXCLIENTS`, `CONNECTION` (nothing was sent, or the connection broke), `LATE` (the deadline had passed).
 * It has no `cause`, because errors of ioredis contain their command with its arguments, including keys and
 * passwords.
 */
export class RedisFailure extends Error {
  readonly code: string
  /** Whether only this key, or its cluster node, is affected, and others can be asked. */
  readonly keyOnly: boolean
  /** True where the command may have been run, and only its answer is missing. */
  readonly mayHaveCounted: boolean

  constructor(code: string, message: string, { keyOnly, mayHaveCounted = false }: RedisFailureOptions = {}) {
    super(message)
    this.name = 'RedisFailure'
    this.code = code
    this.keyOnly = keyOnly ?? code === 'WRONGTYPE'
    this.mayHaveCounted = mayHaveCounted
  }
}

/** Codes that no server sent. */
const UNANSWERED: readonly string[] = ['CONNECTION', 'LATE']

/** Converts an error of a client into a `RedisFailure`. */
export function failureOf(error: unknown): RedisFailure {
  try {
    if (error instanceof RedisFailure) return error
    const { message, code } = error as NodeJS.ErrnoException
    // if several addresses refuse, Node provides only the code
    const text = message || code
    if (typeof text === 'string') {
      const named = codeOf(text)
      return new RedisFailure(named, text, { mayHaveCounted: UNANSWERED.includes(named) })
    }
  } catch {
    // anything can be thrown, including objects whose properties throw when read
  }
  const message = 'the client rejected with something that is no error'
  return new RedisFailure('CONNECTION', message, { mayHaveCounted: true })
}

/** A call that Redis read after its deadline. */
export function reachedLate(): RedisFailure {
  return new RedisFailure('LATE', 'Redis was reached after the deadline, and did nothing')
}

/** Returns the failure for a reply that the script cannot return. */
export function noReply(): RedisFailure {
  return new RedisFailure('ERR', 'the script answered what is no reply of it')
}

/** Returns the failure of a call that waited for another call, which failed. */
export function neverSent({ code, message, keyOnly }: RedisFailure): RedisFailure {
  return new RedisFailure(code, message, { keyOnly })
}

/** Converts an error string that a script read from `pcall`. */
export function failureOfText(text: string): RedisFailure {
  return new RedisFailure(codeOf(text), text)
}

function codeOf(message: string): string {
  if (/max number of clients/i.test(message)) return 'MAXCLIENTS'
  // ioredis's own timer for one command
  if (message === 'Command timed out') return 'LATE'
  // an error inside a script, or after too many redirections, is named behind words about the script or the client
  const named = /^(?:-?|.*(?:Last error: ReplyError: |@user_script: ?\d+: ))([A-Z]{3,}) /.exec(message)
  return named ? named[1] : 'CONNECTION'
}
