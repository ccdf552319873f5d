// The functions of node-crypto.ts for runtimes without `node:crypto`. Web Crypto hashes only asynchronously.
import { ctr } from '@noble/ciphers/aes.js'
import { hmac as nobleHmac } from '@noble/hashes/hmac.js'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'

/** Returns the UTF-8 form of a text. Environments of tests that imitate browsers, such as jsdom, lack `TextEncoder`. */
function utf8(text: string): Uint8Array {
  if (typeof TextEncoder === 'function') return new TextEncoder().encode(text)
  const escaped = encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
  const bytes = escaped.replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))
}

/** Throws in the global scope of a Cloudflare Worker, where random numbers are not available. */
export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count))
}

/** Copies the bytes: in such an environment the library refuses a `Buffer`, which has another `Uint8Array` as its base. */
export function sha256(text: string, bytes: Uint8Array): Uint8Array {
  return nobleSha256.create().update(utf8(text)).update(Uint8Array.from(bytes)).digest()
}

export function hmac(secret: string, text: string): Uint8Array {
  return nobleHmac(nobleSha256, utf8(secret), utf8(text))
}

export function aesKeystream(key: Uint8Array, count: number): Uint8Array {
  return ctr(key, new Uint8Array(16)).encrypt(new Uint8Array(count))
}
