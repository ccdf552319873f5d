import { createHash } from 'node:crypto'
import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import type { CounterToken } from './ledger/counter-ledger.ts'

const MAX_TOKEN_BYTES = 256

/**
 * Returns what the ledger stores of a token: a hash of the token and a hash of the deltas it counts. Throws
 * `SLUICE_BAD_TOKEN`.
 */
export function tokenOf(token: unknown, amounts: ReadonlyMap<string, number>): CounterToken {
  if (typeof token !== 'string' || token === '' || Buffer.byteLength(token) > MAX_TOKEN_BYTES) {
    const expected = `a string of 1 to ${MAX_TOKEN_BYTES} bytes`
    throw new SluiceError('SLUICE_BAD_TOKEN', `token: expected ${expected}, received ${kindOf(token)}`)
  }
  const body = [...amounts].sort(([one], [other]) => (one < other ? -1 : 1))
  return { token: hashOf(token), body: hashOf(JSON.stringify(body)) }
}

/** Hashes the UTF-16 code units, because UTF-8 encodes all lone surrogates as the same bytes. */
function hashOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64url')
}
