import { kindOf, SluiceError } from '@sluice/limiter-core/backend'

const MOST_BYTES = 256

/** Throws `SLUICE_BAD_COUNTER_ID` unless `id` is a text of 1 to 256 bytes of UTF-8. */
export function checkId(id: unknown): asserts id is string {
  if (typeof id === 'string' && id !== '' && id.length <= MOST_BYTES && Buffer.byteLength(id) <= MOST_BYTES) return
  throw new SluiceError('SLUICE_BAD_COUNTER_ID', `id: got ${kindOf(id)}, expected a text of 1 to ${MOST_BYTES} bytes`)
}

/** Throws `SLUICE_BAD_COUNTER_ID` unless `prefix` can begin an id; `''` begins all of them. */
export function checkPrefix(prefix: unknown): asserts prefix is string {
  if (prefix === '') return
  if (typeof prefix === 'string' && prefix.length <= MOST_BYTES && Buffer.byteLength(prefix) <= MOST_BYTES) return
  const expected = `a text of 0 to ${MOST_BYTES} bytes`
  throw new SluiceError('SLUICE_BAD_COUNTER_ID', `prefix: got ${kindOf(prefix)}, expected ${expected}`)
}
