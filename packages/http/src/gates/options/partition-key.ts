import { kindOf, optionsOf, SluiceError } from '@sluice/limiter-core/http'
import { hmacSha256 } from '@sluice/limiter-core/keyed-hash'

/** Twelve base64 characters without padding, which are too few to be mistaken for an identifier. */
const HMAC_BYTES = 9

export interface PartitionKeyOptions {
  /** HMAC secret that only the servers know. Without a secret, clients could guess short keys by trying. */
  readonly secret: string
}

/**
 * Returns a function that formats the `;pk=:…:` parameter of a key (RFC 9651 byte sequence): the first nine bytes of
 * its HMAC-SHA256. Returns undefined without options.
 */
export function compilePartitionKey(options: PartitionKeyOptions | undefined): ((key: string) => string) | undefined {
  if (options === undefined) return undefined
  const { secret } = optionsOf('partitionKey', options, ['secret'])
  if (typeof secret !== 'string' || secret === '') {
    const message = `partitionKey.secret: expected a non-empty string, received ${kindOf(secret)}`
    throw new SluiceError('SLUICE_BAD_OPTION', message)
  }
  return (key) => `;pk=:${btoa(String.fromCharCode(...hmacSha256(secret, key).subarray(0, HMAC_BYTES)))}:`
}
