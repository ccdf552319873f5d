import { createHash } from 'node:crypto'
import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import type { CounterToken } from './ledger/counter-ledger.ts'

const MOST_BYTES = 256

/** What a ledger keeps of a token: hashes of it and of what it is to count. Throws `SLUICE_BAD_TOKEN`. */
export function tokenOf(token: unknown, amounts: ReadonlyMap<string, number>): CounterToken {
  if (typeof token !== 'string' || token === '' || Buffer.byteLength(token) > MOST_BYTES) {
    const expected = `a text of 1 to ${MOST_BYTES} bytes`
    throw new SluiceError('SLUICE_BAD_TOKEN', `token: expected ${expected}, received ${kindOf(token)}`)
  }
  const body = [...amounts].sort(([one], [other]) => (one < other ? -1 : 1))
  return { token: hashOf(token), body: hashOf(JSON.stringify(body)) }
}

/** Of its UTF-16 units, since UTF-8 writes all lone surrogates alike. */
function hashOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64url')
}
