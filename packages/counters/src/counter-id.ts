import { kindOf, SluiceError } from '@sluice/limiter-core/backend'

const MOST_BYTES = 256
/** Begins the ids of parts of which other counters are made: an id of 256 bytes, escaped, and which part of it. */
export const PART = '\u0001'
const MOST_PART_BYTES = 1_024

/** Throws `SLUICE_BAD_COUNTER_ID` unless `id` is a text of 1 to 256 bytes of UTF-8. */
export function checkId(id: unknown): asserts id is string {
  if (typeof id === 'string' && id !== '' && isShort(id)) return
  throw new SluiceError(
    'SLUICE_BAD_COUNTER_ID',
    `id: expected a text of 1 to ${MOST_BYTES} bytes, received ${kindOf(id)}`,
  )
}

/** Throws `SLUICE_BAD_COUNTER_ID` unless `prefix` can begin an id; `''` begins all of them. */
export function checkPrefix(prefix: unknown): asserts prefix is string {
  if (typeof prefix === 'string' && isShort(prefix)) return
  const expected = `a text of 0 to ${MOST_BYTES} bytes`
  throw new SluiceError('SLUICE_BAD_COUNTER_ID', `prefix: expected ${expected}, received ${kindOf(prefix)}`)
}

function isShort(text: string): boolean {
  const most = text.startsWith(PART) ? MOST_PART_BYTES : MOST_BYTES
  return text.length <= most && Buffer.byteLength(text) <= most
}
