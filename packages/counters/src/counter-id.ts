import { kindOf, SluiceError } from '@sluice/limiter-core/backend'

const MAX_ID_BYTES = 256
/**
 * First character of the id of a part (e.g. a shard or bucket) of a counter. The id of a part contains the escaped id.
 */
export const PART = '\u0001'
const MAX_PART_ID_BYTES = 1_024

/** Throws `SLUICE_BAD_COUNTER_ID` unless `id` is a string of 1 to 256 bytes of UTF-8. */
export function checkId(id: unknown): asserts id is string {
  if (typeof id === 'string' && id !== '' && isShort(id)) return
  throw new SluiceError(
    'SLUICE_BAD_COUNTER_ID',
    `id: expected a string of 1 to ${MAX_ID_BYTES} bytes, received ${kindOf(id)}`,
  )
}

/** Throws `SLUICE_BAD_COUNTER_ID` unless `prefix` is a string of 0 to 256 bytes of UTF-8. */
export function checkPrefix(prefix: unknown): asserts prefix is string {
  if (typeof prefix === 'string' && isShort(prefix)) return
  const expected = `a string of 0 to ${MAX_ID_BYTES} bytes`
  throw new SluiceError('SLUICE_BAD_COUNTER_ID', `prefix: expected ${expected}, received ${kindOf(prefix)}`)
}

function isShort(text: string): boolean {
  const most = text.startsWith(PART) ? MAX_PART_ID_BYTES : MAX_ID_BYTES
  return text.length <= most && Buffer.byteLength(text) <= most
}
