// string of an object without its own toString()
const NO_TEXT = '[object Object]'
const NO_BYTES = new Uint8Array(0)

/**
 * Returns the string that represents a key that is neither a string, an integer nor bytes. Never throws, because
 * untrusted clients may choose keys.
 */
export function keyText(key: unknown): string {
  try {
    return String(key)
  } catch {
    return NO_TEXT
  }
}

/** Returns the bytes of any view; empty if its memory was transferred to another thread. */
export function keyBytes(key: ArrayBufferView): Uint8Array {
  if (key instanceof Uint8Array) return key
  try {
    return new Uint8Array(key.buffer, key.byteOffset, key.byteLength)
  } catch {
    return NO_BYTES
  }
}
