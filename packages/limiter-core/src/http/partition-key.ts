import { createHmac } from 'node:crypto'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import { optionsOf } from '../options/options.ts'

/** Nine bytes are twelve base64 characters without padding, and too few to be mistaken for an identifier. */
const BYTES = 9

export interface PartitionKeyOptions {
  /** Known to the servers alone: without it a short key could be found by trying. */
  readonly secret: string
}

/** Makes the `;pk=:…:` of a key (RFC 9651 byte sequence): HMAC-SHA256 under the secret, its first nine bytes. */
export function compilePartitionKey(options: PartitionKeyOptions | undefined): ((key: string) => string) | undefined {
  if (options === undefined) return undefined
  const { secret } = optionsOf('partitionKey', options, ['secret'])
  if (typeof secret !== 'string' || secret === '') {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `partitionKey.secret: expected a non-empty string, received ${kindOf(secret)}`,
    )
  }
  return (key) => `;pk=:${createHmac('sha256', secret).update(key).digest().subarray(0, BYTES).toString('base64')}:`
}
