const MULTIPLIER = 0x5bd1e995

/**
 * Other bytes with the same MurmurHash2 under every seed. The first word adds another top bit; a product by an odd
 * number leaves the top bit where it is, and the second word adds it once more. Of 8 bytes or more.
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

/** Of an odd number mod 2³², by Newton's iteration. */
function inverseOf(odd: number): number {
  let result = odd
  for (let i = 0; i < 5; i++) result = Math.imul(result, 2 - Math.imul(odd, result))
  return result
}
