import { badOption } from '../errors/bad-option.ts'
import { optionalBoolean, optionalFunction } from '../options/options.ts'

/** A status for denials; throws `SLUICE_BAD_OPTION` where it would not tell the client that it was denied. */
export function parseStatus(status: unknown): number {
  if (Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599) return status as number
  throw badOption('status', status, 'a whole number from 400 to 599')
}

/** Throws `SLUICE_BAD_OPTION` for hooks that are no functions, and for options of an adapter that are no booleans. */
export function checkHooks(options: object, adapterOptions: readonly string[]): void {
  const given = (options ?? {}) as Readonly<Record<string, unknown>>
  for (const hook of ['skip', 'denied']) optionalFunction(hook, given[hook])
  for (const name of adapterOptions) optionalBoolean(name, given[name])
}
