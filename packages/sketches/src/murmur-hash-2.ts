// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a whole hash
const imul: typeof Math.imul = Math.imul

const MULTIPLIER = 0x5bd1e995

/**
 * 32-bit MurmurHash2 (Austin Appleby, public domain) of the first `length` bytes, as used by RedisBloom; a uint32.
 * With seed 0, `hello` hashes to 3848350155. Only for compatibility: some keys collide under every seed, and can be
 * constructed from the algorithm.
 */
export function murmurHash2(bytes: Uint8Array, length: number, seed: number): number {
  let hash = seed ^ length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
    const once = imul(word, MULTIPLIER)
    hash = imul(hash, MULTIPLIER) ^ imul(once ^ (once >>> 24), MULTIPLIER)
  }
  if (at < length) {
    for (let i = at; i < length; i++) hash ^= bytes[i] << (8 * (i - at))
    hash = imul(hash, MULTIPLIER)
  }
  hash = imul(hash ^ (hash >>> 13), MULTIPLIER)
  return (hash ^ (hash >>> 15)) >>> 0
}
