// what an object without a text of its own has
const NO_TEXT = '[object Object]'
const NO_BYTES = new Uint8Array(0)

/** The text under which a key counts that is neither text, integer nor bytes. A stranger may choose keys, so it never fails. */
export function keyText(key: unknown): string {
  try {
    return String(key)
  } catch {
    return NO_TEXT
  }
}

/** The bytes of any view. None where its memory went to another thread. */
export function keyBytes(key: ArrayBufferView): Uint8Array {
  if (key instanceof Uint8Array) return key
  try {
    return new Uint8Array(key.buffer, key.byteOffset, key.byteLength)
  } catch {
    return NO_BYTES
  }
}
