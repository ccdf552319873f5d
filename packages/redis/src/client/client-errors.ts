import { kindOf, SluiceError } from '@sluice/limiter-core/backend'

/**
 * Returns a listener for the `error` events of a client, which ioredis would otherwise print. It removes the arguments
 * of the failed command from the error, because the argument of `AUTH` is the password, and then calls `onError`.
 * Errors that `onError` throws are ignored. Throws `SLUICE_BAD_OPTION` if `onError` is neither undefined nor a
 * function.
 */
export function errorListener(owner: string, onError: ((error: Error) => void) | undefined): (error: Error) => void {
  if (onError !== undefined && typeof onError !== 'function') {
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: onError: expected a function, received ${kindOf(onError)}`)
  }
  return (error) => {
    removeArguments(error)
    try {
      onError?.(error)
    } catch {
      // a failing error handler must not end the process during an outage
    }
  }
}

interface CommandError extends Error {
  command?: { name: string; args: unknown[] }
  /** Set by a cluster client if no node could be reached. */
  readonly lastNodeError?: CommandError
}

function removeArguments(error: CommandError | undefined): void {
  if (!error) return
  if (error.command) error.command.args = []
  removeArguments(error.lastNodeError)
}
