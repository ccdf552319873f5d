const MULTIPLIER = 0x5bd1e995

/**
 * Returns other bytes with the same MurmurHash2 under every seed. It flips the top bit of what the first word adds. A
 * product by an odd number keeps a flipped top bit, and the second word flips it back. Takes 8 bytes or more.
 */
export function murmurTwin(key: Uint8Array): Uint8Array {
  const twin = key.slice()
  const view = new DataView(twin.buffer)
  for (const at of [0, 4]) view.setUint32(at, unmixed((mixed(view.getUint32(at, true)) ^ 0x8000_0000) >>> 0), true)
  return twin
}

function mixed(word: number): number {
  const once = Math.imul(word, MULTIPLIER)
  return Math.imul(once ^ (once >>> 24), MULTIPLIER)
}

function unmixed(word: number): number {
  const inverse = inverseOf(MULTIPLIER)
  const once = Math.imul(word, inverse)
  return Math.imul(once ^ (once >>> 24), inverse) >>> 0
}

/** Returns the inverse of an odd number mod 2³², by Newton's iteration. */
function inverseOf(odd: number): number {
  let result = odd
  for (let i = 0; i < 5; i++) result = Math.imul(result, 2 - Math.imul(odd, result))
  return result
}
