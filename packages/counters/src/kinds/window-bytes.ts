import { kindOf, SluiceError, shown } from '@sluice/limiter-core/backend'

/** What a `WindowedCounter` is made of. */
export interface WindowState {
  readonly windowMs: number
  readonly grainMs: number
  readonly newest: number
  /** Bucket `n` stands at `n` modulo their number. */
  readonly buckets: Float64Array
}

// 'SLWC' read as little-endian
const MAGIC = 0x43574c53
const VERSION = 1
const HEADER_BYTES = 32

/**
 * Little-endian: 0 magic 'SLWC'; 4 version as uint32; 8 window, 16 grain and 24 newest bucket as float64; 32 the buckets,
 * a float64 each.
 */
export function windowBytes({ windowMs, grainMs, newest, buckets }: WindowState): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 8 * buckets.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint32(4, VERSION, true)
  for (const [n, float] of [windowMs, grainMs, newest, ...buckets].entries()) view.setFloat64(8 + 8 * n, float, true)
  return bytes
}

/** Throws `SLUICE_BAD_MESSAGE` for all other bytes, before it allocates. */
export function readWindowBytes(bytes: unknown, mostBuckets: number): WindowState {
  if (!(bytes instanceof Uint8Array)) throw bad(kindOf(bytes))
  if (bytes.length < HEADER_BYTES) throw bad(`${bytes.length} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== VERSION) throw bad('another kind or version')
  const [windowMs, grainMs, newest] = [8, 16, 24].map((at) => view.getFloat64(at, true))
  const length = windowMs / grainMs
  const isShape =
    Number.isSafeInteger(windowMs) && Number.isSafeInteger(grainMs) && Number.isInteger(length) && length >= 1
  if (!isShape || length > mostBuckets) throw bad('a window that no counter has')
  if (bytes.length !== HEADER_BYTES + 8 * length) throw bad(`${bytes.length} bytes`)
  if (!Number.isSafeInteger(newest) && newest !== Number.NEGATIVE_INFINITY) throw bad(`a newest bucket of ${newest}`)
  const buckets = Float64Array.from({ length }, (_, n) => view.getFloat64(HEADER_BYTES + 8 * n, true))
  const wrong = buckets.find(
    (amount) => !Number.isSafeInteger(amount) || (amount !== 0 && newest === Number.NEGATIVE_INFINITY),
  )
  if (wrong !== undefined) throw bad(`a bucket of ${shown(wrong)}`)
  return { windowMs, grainMs, newest, buckets }
}

function bad(got: string): SluiceError {
  return new SluiceError(
    'SLUICE_BAD_MESSAGE',
    `bytes: expected those of toBytes() of a WindowedCounter, received ${got}`,
  )
}
