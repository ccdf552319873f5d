import { messageOf, SluiceError } from '@sluice/limiter-core/backend'

/** Returns the error of a source that cannot be read. `name` is the name of the source in messages. */
export function unreadable(name: string, cause: unknown): SluiceError {
  return new SluiceError('SLUICE_POLICIES_UNREADABLE', `${name}: ${reasonOf(cause)}`, { cause })
}

/** Returns the message of an error, with the message of its cause: `fetch` reports only there what failed. */
function reasonOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as {
    readonly message?: unknown
    readonly cause?: { readonly message?: unknown }
  }
  if (typeof message !== 'string') return messageOf(error)
  const deeper = cause?.message
  return typeof deeper === 'string' && deeper !== '' ? `${message}: ${deeper}` : message
}
