import { messageOfAny, RemoteFailure, type RemoteFailureOptions } from '@sluice/fleet/backend'

/**
 * A failed call to a Durable Object. `code` is one of:
 *
 * - `CONNECTION`: the object threw, was reset or is unreachable;
 * - `OVERLOADED`: Cloudflare refused the call because too many calls to the object are waiting;
 * - `LATE`: the deadline had passed, or no reply arrived in time;
 * - `REPLY`: the reply, or the stored state of a key, has an unexpected format.
 */
export class DurableObjectFailure extends RemoteFailure {
  declare readonly code: 'CONNECTION' | 'OVERLOADED' | 'LATE' | 'REPLY'

  constructor(code: DurableObjectFailure['code'], message: string, options?: Omit<RemoteFailureOptions, 'cause'>) {
    super(code, message, options)
    this.name = 'DurableObjectFailure'
  }
}

/** Converts the rejection value of a stub into a `DurableObjectFailure`. */
export function failureOf(error: unknown): DurableObjectFailure {
  if (error instanceof DurableObjectFailure) return error
  const message = messageOfAny(error) ?? 'the Durable Object failed'
  if (isOverloaded(error)) return new DurableObjectFailure('OVERLOADED', message)
  return new DurableObjectFailure('CONNECTION', message, { mayHaveCounted: true })
}

/** Whether the runtime refused the call before the object received it. */
function isOverloaded(error: unknown): boolean {
  try {
    return (error as { readonly overloaded?: unknown }).overloaded === true
  } catch {
    // any value can be thrown, for example undefined or an object whose getters throw
    return false
  }
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
