import { kindOf, SluiceError } from '@sluice/limiter-core/http'
import { hmacSha256 } from '@sluice/limiter-core/keyed-hash'

/** Shortest secret, in UTF-16 code units. */
const SHORTEST = 16

/** Signs texts with the first of several secrets, and accepts the signatures of all of them. */
export class Signer {
  readonly #secrets: readonly string[]

  /** Throws `SLUICE_BAD_OPTION` unless each secret has at least 16 characters. */
  constructor(secret: string | readonly string[], option: string) {
    const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
    const isLong = (one: unknown): boolean => typeof one === 'string' && one.length >= SHORTEST
    if (secrets.length === 0 || !secrets.every(isLong)) {
      // does not show the secret or its length: it may be most of the real secret
      const wrong = secrets.find((one) => !isLong(one))
      const received = typeof wrong === 'string' ? 'a shorter one' : kindOf(wrong)
      const expected = `a string of at least ${SHORTEST} characters, or a list of them`
      throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected ${expected}, received ${received}`)
    }
    this.#secrets = secrets as readonly string[]
  }

  /** Returns the HMAC-SHA256 of a text: 43 characters of base64url. */
  sign(text: string): string {
    return macOf(this.#secrets[0], text)
  }

  /** Whether `signature` is the HMAC of the text under one of the secrets. Takes the same time for all wrong ones. */
  isSigned(text: string, signature: string): boolean {
    return this.#secrets.some((secret) => isSame(macOf(secret, text), signature))
  }
}

/** Returns 16 random bytes: 22 characters of base64url. */
export function randomId(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(16)))
}

function macOf(secret: string, text: string): string {
  // as JSON, because UTF-8 encodes all lone surrogates as the same bytes
  return base64url(hmacSha256(secret, JSON.stringify(text)))
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (one) => ({ '+': '-', '/': '_' })[one] ?? '')
}

function isSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let differences = 0
  for (let i = 0; i < one.length; i++) differences |= one.charCodeAt(i) ^ other.charCodeAt(i)
  return differences === 0
}
