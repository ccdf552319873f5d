import type * as crypto from 'node:crypto'

/** Returns the module. It takes as long to load as a hundred kilobytes of code, which is left to the first hash. */
const loaded = (): typeof crypto => process.getBuiltinModule('node:crypto')

/** Returns bytes of the system's secure random source. */
export function randomBytes(count: number): Uint8Array {
  return loaded().randomBytes(count)
}

/** Returns the SHA-256 digest of a text in UTF-8, followed by bytes. */
export function sha256(text: string, bytes: Uint8Array): Uint8Array {
  return loaded().createHash('sha256').update(text).update(bytes).digest()
}

/** Returns the HMAC-SHA256 of a text in UTF-8. */
export function hmac(secret: string, text: string): Uint8Array {
  return loaded().createHmac('sha256', secret).update(text).digest()
}

/** Returns bytes of the keystream of AES-256 in counter mode, from counter 0 on. */
export function aesKeystream(key: Uint8Array, count: number): Uint8Array {
  return loaded().createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(count))
}
