import { scatterBits } from '@sluice/limiter-core/keyed-hash'

// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a whole hash
export const imul: typeof Math.imul = Math.imul

/**
 * Returns the start of a key's probe sequence. It is a bijection of the 64 hash bits, so it keeps the guarantees of
 * the hash. With `low` alone, the first cell would depend on only two lanes of the hash, which coincide for
 * consecutive integers under some seeds: 1.2 % false positives instead of 1.0 % with 10⁸ integers.
 */
export function startOf(low: number, high: number): number {
  return low ^ scatterBits(high)
}

/**
 * Maps the x of one round to a cell, where `scale` · 2³² is the number of cells. The result is a double of which
 * `>>>` and `&` take the integer part. 21 bits of the key are added below the 32 bits of the round, so that each of
 * up to 2³² cells is equally likely; with 32 bits alone, some of 3 · 2³⁰ cells would be twice as likely as others.
 */
export function cellAt(x: number, high: number, scale: number): number {
  return ((scatterBits(x) >>> 0) + (high >>> 11) / 0x20_0000) * scale
}

/** Sets all bits of `others` in `words`, and returns the number of bits that are set. */
export function united(words: Uint32Array, others: Uint32Array): number {
  for (let at = 0; at < words.length; at++) words[at] |= others[at]
  return onesIn(words)
}

/** Returns the number of bits set in words `from` to `to`. */
export function onesIn(words: Uint32Array, from: number = 0, to: number = words.length): number {
  let sum = 0
  for (let at = from; at < to; at++) sum += onesOf(words[at])
  return sum
}

/** Returns the number of 4-bit counters that are not 0. */
export function countersIn(words: Uint32Array): number {
  let sum = 0
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    // all bits of a counter, put together into its lowest
    const pairs = word | (word >>> 1)
    sum += onesOf((pairs | (pairs >>> 2)) & 0x11111111)
  }
  return sum
}

function onesOf(word: number): number {
  // sums of two bits, of four, of eight
  const twos = (word | 0) - ((word >>> 1) & 0x55555555)
  const fours = (twos & 0x33333333) + ((twos >>> 2) & 0x33333333)
  return imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
