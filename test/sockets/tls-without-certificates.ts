import type { ConnectionOptions, TlsOptions } from 'node:tls'

const key = Buffer.from('a key that both sides know')
const both = { ciphers: 'PSK', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const

/** TLS with a pre-shared key, so that tests need no certificate. */
export const tlsServer: TlsOptions = { ...both, pskCallback: () => key, pskIdentityHint: 'test' }

export const tlsClient: ConnectionOptions = {
  ...both,
  pskCallback: () => ({ psk: key, identity: 'test' }),
  checkServerIdentity: () => undefined,
}
