import { hmac } from './crypto/node-crypto.ts'

/** Returns the HMAC-SHA256 (RFC 2104) of `text`, in UTF-8: 32 bytes. The same in every runtime. */
export function hmacSha256(secret: string, text: string): Uint8Array {
  return hmac(secret, text)
}
