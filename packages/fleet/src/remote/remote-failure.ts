export interface RemoteFailureOptions {
  readonly keyOnly?: boolean | undefined
  readonly mayHaveCounted?: boolean | undefined
  readonly cause?: unknown
}

/** A failed call to a server. */
export abstract class RemoteFailure extends Error {
  readonly code: string
  /** Whether the failure concerns only one key. Calls for other keys may succeed. */
  readonly keyOnly: boolean
  /** Whether the server may have counted the call, so that only its reply is missing. */
  readonly mayHaveCounted: boolean

  constructor(
    code: string,
    message: string,
    { keyOnly = false, mayHaveCounted = false, cause }: RemoteFailureOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.keyOnly = keyOnly
    this.mayHaveCounted = mayHaveCounted
  }

  /** Returns this failure as that of a request that was not sent, so that the server has not counted it. */
  unsent(): RemoteFailure {
    const { code, message, keyOnly } = this
    return Reflect.construct(this.constructor, [code, message, { keyOnly }])
  }
}

/** Returns the text of a rejection value, which can be anything; undefined if it is not an error with a message. */
export function messageOfAny(error: unknown): string | undefined {
  try {
    const { message } = error as { readonly message?: unknown }
    return typeof message === 'string' && message !== '' ? message : undefined
  } catch {
    // for example undefined, or an object whose getters throw
    return undefined
  }
}
