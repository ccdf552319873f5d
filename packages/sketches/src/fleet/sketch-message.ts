import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw } from 'node:zlib'
import { SketchError } from '../sketch-error.ts'

const deflated = promisify<Uint8Array, object, Buffer>(deflateRaw)
const inflated = promisify<Uint8Array, object, Buffer>(inflateRaw)

/** Size of the window number, a little-endian float64. */
const HEAD_BYTES = 8

/** Largest message that is sent, and for which memory is allocated. */
const MAX_BYTES = 64 * 2 ** 20

/** Throws with `code` where a sketch is larger than others would read. */
export function checkSize(sketch: Uint8Array, code: 'SLUICE_BAD_OPTION' | 'SLUICE_SKETCH_UNSUPPORTED'): void {
  if (sketch.length <= MAX_BYTES) return
  throw new SketchError(code, `shareSketch: expected a sketch of at most ${MAX_BYTES} bytes, received ${sketch.length}`)
}

/**
 * Encodes a message: the number of a window and the bytes of a sketch, compressed because most cells of a tick are 0.
 * Throws `SLUICE_SKETCH_UNSUPPORTED`.
 */
export async function packed(window: number, sketch: Uint8Array): Promise<Uint8Array> {
  checkSize(sketch, 'SLUICE_SKETCH_UNSUPPORTED')
  const body = await deflated(sketch, { level: constants.Z_BEST_SPEED })
  const message = Buffer.alloc(HEAD_BYTES + body.length)
  message.writeDoubleLE(window)
  message.set(body, HEAD_BYTES)
  return message
}

/** Throws `SLUICE_BAD_BYTES`. */
export async function unpacked(message: Uint8Array): Promise<{ readonly window: number; readonly sketch: Uint8Array }> {
  if (message.length < HEAD_BYTES)
    throw new SketchError(
      'SLUICE_BAD_BYTES',
      `message: expected at least ${HEAD_BYTES} bytes, received ${message.length}`,
    )
  const window = new DataView(message.buffer, message.byteOffset).getFloat64(0, true)
  try {
    const sketch = await inflated(message.subarray(HEAD_BYTES), { maxOutputLength: MAX_BYTES })
    return { window, sketch: new Uint8Array(sketch) }
  } catch (error) {
    throw new SketchError('SLUICE_BAD_BYTES', `no deflated sketch: ${(error as Error).message}`)
  }
}
