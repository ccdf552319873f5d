/** A hash in the manner of murmur3 over two characters a word: fast and seeded, but easy to attack. */
export function murmurLike(key: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < key.length; i += 2) {
    hash ^= mixed(key.charCodeAt(i) | (key.charCodeAt(i + 1) << 16))
    hash = (Math.imul(rotated(hash, 13), 5) + 0xe6546b64) | 0
  }
  hash ^= key.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

/**
 * Returns another key with the same `murmurLike` under every seed. It flips bit 18 of what the first word adds. The
 * rotation makes it bit 31, which a product by 5 and a sum leave alone, and the second word flips bit 31 back.
 */
export function forgedTwin(key: string): string {
  return flipped(key, 0, 1 << 18) + flipped(key, 2, 1 << 31) + key.slice(4)
}

const [m1, m2] = [0xcc9e2d51, 0x1b873593]

function mixed(word: number): number {
  return Math.imul(rotated(Math.imul(word, m1), 15), m2)
}

function flipped(key: string, at: number, bits: number): string {
  const wanted = mixed(key.charCodeAt(at) | (key.charCodeAt(at + 1) << 16)) ^ bits
  const word = Math.imul(rotated(Math.imul(wanted, inverse(m2)), 17), inverse(m1))
  return String.fromCharCode(word & 0xffff, word >>> 16)
}

function rotated(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits))
}

/** Returns the inverse of an odd number mod 2³², by Newton's iteration. */
function inverse(odd: number): number {
  let result = odd
  for (let i = 0; i < 5; i++) result = Math.imul(result, 2 - Math.imul(odd, result))
  return result
}
