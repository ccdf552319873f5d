import { kindOf, SluiceError } from '@sluice/limiter-core/backend'

/**
 * What hears the errors of a client: without a listener ioredis would print each of them. Of their commands they keep
 * the names alone, since the argument of `AUTH` is the password. What `onError` throws must not end the process, and is
 * dropped. Throws `SLUICE_BAD_OPTION` where it is no function.
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
      // an outage goes on without it
    }
  }
}

interface CommandError extends Error {
  command?: { name: string; args: unknown[] }
  /** Of a cluster none of whose nodes answers. */
  readonly lastNodeError?: CommandError
}

function withoutArguments(error: CommandError | undefined): void {
  if (!error) return
  if (error.command) error.command.args = []
  withoutArguments(error.lastNodeError)
}
