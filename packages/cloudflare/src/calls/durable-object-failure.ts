export interface DurableObjectFailureOptions {
  readonly keyOnly?: boolean
  readonly mayHaveCounted?: boolean
}

/**
 * A failed call to a Durable Object. `code` is one of:
 *
 * - `CONNECTION`: the object threw, was reset or is unreachable;
 * - `OVERLOADED`: Cloudflare refused the call because too many calls to the object are waiting;
 * - `LATE`: the deadline had passed, or no reply arrived in time;
 * - `REPLY`: the reply, or the stored state of a key, has an unexpected format.
 */
export class DurableObjectFailure extends Error {
  readonly code: 'CONNECTION' | 'OVERLOADED' | 'LATE' | 'REPLY'
  /** Whether the failure concerns only one key. Calls for other keys may succeed. */
  readonly keyOnly: boolean
  /** Whether the object may have counted the call, so that only its reply is missing. */
  readonly mayHaveCounted: boolean

  constructor(
    code: DurableObjectFailure['code'],
    message: string,
    { keyOnly = false, mayHaveCounted = false }: DurableObjectFailureOptions = {},
  ) {
    super(message)
    this.name = 'DurableObjectFailure'
    this.code = code
    this.keyOnly = keyOnly
    this.mayHaveCounted = mayHaveCounted
  }
}

/** Converts the rejection value of a stub into a `DurableObjectFailure`. */
export function failureOf(error: unknown): DurableObjectFailure {
  try {
    return error instanceof DurableObjectFailure ? error : convertedError(error as StubError)
  } catch {
    // any value can be thrown, for example undefined or an object whose getters throw
    const message = 'the stub rejected with a value that is not an error'
    return new DurableObjectFailure('CONNECTION', message, { mayHaveCounted: true })
  }
}

interface StubError {
  readonly message?: unknown
  /** Set by the runtime for a call that it refused before the object received it. */
  readonly overloaded?: unknown
}

function convertedError({ message, overloaded }: StubError): DurableObjectFailure {
  const text = typeof message === 'string' && message !== '' ? message : 'the Durable Object failed'
  if (overloaded === true) return new DurableObjectFailure('OVERLOADED', text)
  return new DurableObjectFailure('CONNECTION', text, { mayHaveCounted: true })
}

/** Creates the failure of a call that the object has not counted, because its deadline had passed. */
export function lateFailure(): DurableObjectFailure {
  return new DurableObjectFailure('LATE', 'the call reached the Durable Object after its deadline and was not counted')
}

/** Creates the failure of a call without a reply, which the object may have counted. */
export function unansweredFailure(): DurableObjectFailure {
  return new DurableObjectFailure('LATE', 'the Durable Object did not reply in time', { mayHaveCounted: true })
}

/** Creates the failure of a request whose stored state was not written by this release of Sluice. */
export function invalidState(): DurableObjectFailure {
  const message = 'the stored state of the key does not have the cells of its policy'
  return new DurableObjectFailure('REPLY', message, { keyOnly: true })
}

/** Creates the failure of a reply in another format. */
export function invalidReply(): DurableObjectFailure {
  const message =
    'the reply of the Durable Object has an unexpected format: does it export LimitObject of this release?'
  return new DurableObjectFailure('REPLY', message, { mayHaveCounted: true })
}
