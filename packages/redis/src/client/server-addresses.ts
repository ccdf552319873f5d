import { kindOf, SluiceError } from '@sluice/limiter-core/backend'

/** The address of a server. */
export interface ServerAddress {
  readonly host: string
  readonly port?: number
}

/**
 * Returns the addresses with `defaultPort` where none is given. Throws `SLUICE_BAD_OPTION` unless they are a non-empty
 * array of `{ host, port }`.
 */
export function serverAddresses(
  option: string,
  servers: readonly ServerAddress[],
  defaultPort: number,
): { host: string; port: number }[] {
  if (!Array.isArray(servers) || servers.length === 0 || servers.some((server) => typeof server?.host !== 'string')) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${option}: expected a non-empty array of { host, port }, received ${kindOf(servers)}`,
    )
  }
  return servers.map(({ host, port = defaultPort }) => ({ host, port }))
}
