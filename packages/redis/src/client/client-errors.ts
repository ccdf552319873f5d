import { kindOf, SluiceError } from '@sluice/limiter-core/backend'

/**
 * Returns a listener for client errors; without one, ioredis prints each of them. Only the names of commands are kept
 * in errors, because the argument of `AUTH` is the password. Errors thrown by `onError` are dropped, so that they do
 * not end the process. Throws `SLUICE_BAD_OPTION` if it is not a function.
 */
export function errorListener(owner: string, onError: ((error: Error) => void) | undefined): (error: Error) => void {
  if (onError !== undefined && typeof onError !== 'function') {
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: onError: expected a function, received ${kindOf(onError)}`)
  }
  return (error) => {
    withoutArguments(error)
    try {
      onError?.(error)
    } catch {
      // an error in `onError` is ignored
    }
  }
}

interface CommandError extends Error {
  command?: { name: string; args: unknown[] }
  /** Set if no node of a cluster answers. */
  readonly lastNodeError?: CommandError
}

function withoutArguments(error: CommandError | undefined): void {
  if (!error) return
  if (error.command) error.command.args = []
  withoutArguments(error.lastNodeError)
}
