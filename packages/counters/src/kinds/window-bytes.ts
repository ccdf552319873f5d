import { kindOf, SluiceError, shown } from '@sluice/limiter-core/backend'

/** Serialized state of a `WindowedCounter`. */
export interface WindowState {
  readonly windowMs: number
  readonly grainMs: number
  readonly newest: number
  /** Bucket number `n` has the index `n` modulo the number of buckets. */
  readonly buckets: Float64Array
}

// 'SLWC' read as little-endian
const MAGIC = 0x43574c53
const VERSION = 1
const HEADER_BYTES = 32

/**
 * Serializes a window, little-endian: at 0 the magic 'SLWC'; at 4 the version as uint32; at 8 the window, at 16 the
 * grain and at 24 the newest bucket as float64; from 32 the buckets, a float64 each.
 */
export function windowBytes({ windowMs, grainMs, newest, buckets }: WindowState): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 8 * buckets.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint32(4, VERSION, true)
  for (const [n, float] of [windowMs, grainMs, newest, ...buckets].entries()) view.setFloat64(8 + 8 * n, float, true)
  return bytes
}

/** Parses bytes written by `windowBytes`. Throws `SLUICE_BAD_MESSAGE` for other bytes, before allocating memory. */
export function readWindowBytes(bytes: unknown, mostBuckets: number): WindowState {
  if (!(bytes instanceof Uint8Array)) throw bad(kindOf(bytes))
  if (bytes.length < HEADER_BYTES) throw bad(`${bytes.length} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== VERSION) throw bad('another kind or version')
  const [windowMs, grainMs, newest] = [8, 16, 24].map((at) => view.getFloat64(at, true))
  const length = windowMs / grainMs
  const isShape =
    Number.isSafeInteger(windowMs) && Number.isSafeInteger(grainMs) && Number.isInteger(length) && length >= 1
  if (!isShape || length > mostBuckets) throw bad('an invalid window or grain')
  if (bytes.length !== HEADER_BYTES + 8 * length) throw bad(`${bytes.length} bytes`)
  if (!Number.isSafeInteger(newest) && newest !== Number.NEGATIVE_INFINITY) throw bad(`the newest bucket ${newest}`)
  const buckets = Float64Array.from({ length }, (_, n) => view.getFloat64(HEADER_BYTES + 8 * n, true))
  const wrong = buckets.find(
    (amount) => !Number.isSafeInteger(amount) || (amount !== 0 && newest === Number.NEGATIVE_INFINITY),
  )
  if (wrong !== undefined) throw bad(`a bucket with ${shown(wrong)}`)
  return { windowMs, grainMs, newest, buckets }
}

function bad(received: string): SluiceError {
  return new SluiceError(
    'SLUICE_BAD_MESSAGE',
    `bytes: expected the toBytes() of a WindowedCounter, received ${received}`,
  )
}
