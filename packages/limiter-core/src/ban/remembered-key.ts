import { createKeyedHash, type KeyedHash } from '@sluice/keyed-hash'

/** Length of the longest key that is stored itself, in UTF-16 units, so that the memory is bounded in bytes. */
const LONGEST_KEY = 128
let hash: KeyedHash | undefined

/** Returns a key as this process remembers it: a long key by its hash, of 64 bits. */
export function rememberedKey(key: string): string {
  if (key.length <= LONGEST_KEY) return key
  // not while modules are loaded, where Workers forbid random numbers
  hash ??= createKeyedHash()
  hash.text(key)
  return `\0${hash.low} ${hash.high}`
}
