import { badOption, integerFrom, optionalBoolean, optionalFunction } from '@sluice/limiter-core/http'

/** Returns the status of denials. Throws `SLUICE_BAD_OPTION` unless it is an integer from 400 to 599. */
export function parseStatus(status: unknown): number {
  return integerFrom('status', status, 400, 599)
}

/** Throws `SLUICE_BAD_OPTION` for hooks and messages of the wrong type, and for adapter options that are not booleans. */
export function checkHooks(options: object, adapterOptions: readonly string[]): void {
  const given = (options ?? {}) as Readonly<Record<string, unknown>>
  for (const hook of ['skip', 'denied']) optionalFunction(hook, given[hook])
  const { message, denied } = given
  if (message !== undefined && !['string', 'object', 'function'].includes(message === null ? 'null' : typeof message)) {
    throw badOption('message', message, 'a text, an object or a function that returns one of them')
  }
  if (message !== undefined && denied !== undefined) throw badOption('message', message, 'message or denied, not both')
  for (const name of adapterOptions) optionalBoolean(name, given[name])
}
