import type { KeyedHash } from '@sluice/limiter-core/keyed-hash'

/** Formats all 64 bits for an assertion message. */
export function textHash(hash: KeyedHash, key: string): string {
  hash.text(key)
  return hex(hash)
}

export function bytesHash(hash: KeyedHash, key: Uint8Array): string {
  hash.bytes(key)
  return hex(hash)
}

export function integerHash(hash: KeyedHash, key: number): string {
  hash.integer(key)
  return hex(hash)
}

export function hex({ low, high }: { readonly low: number; readonly high: number }): string {
  return [high, low].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}
