/** First byte of a row. */
const FORMAT = 1
const DOUBLE = 8

/** Returns the bytes of a row: the format, then little-endian doubles. */
export function bytesOfFloats(floats: Float64Array): Uint8Array {
  const bytes = new Uint8Array(1 + DOUBLE * floats.length)
  const view = new DataView(bytes.buffer)
  bytes[0] = FORMAT
  for (let index = 0; index < floats.length; index++) view.setFloat64(1 + DOUBLE * index, floats[index], true)
  return bytes
}

/** Returns the doubles of a row; undefined if the bytes have another format. */
export function floatsOfBytes(bytes: Uint8Array): Float64Array | undefined {
  const count = (bytes.length - 1) / DOUBLE
  if (bytes[0] !== FORMAT || !Number.isInteger(count)) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float64Array.from({ length: count }, (_, index) => view.getFloat64(1 + DOUBLE * index, true))
}
