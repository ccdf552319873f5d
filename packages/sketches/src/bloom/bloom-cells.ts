import { scattered } from '@sluice/keyed-hash'

// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a whole hash
export const imul: typeof Math.imul = Math.imul

/**
 * Where the walk of a key begins. It is a bijection of the 64 bits, so it takes nothing from the bounds of the hash. With
 * `low` in its place the first cell would hang on two lanes of the hash alone, and of 10⁸ integers in a row the lanes of
 * some seeds fall upon one another: 1.2 % wrong answers instead of 1.0 %.
 */
export function startOf(low: number, high: number): number {
  return low ^ scattered(high)
}

/**
 * Where the x of one round falls among cells of which there are `scale` · 2³²: a double, of which `>>>` and `&` take the
 * whole part. Below the 32 bits of the round stand 21 of the key's own, so that each of up to 2³² cells is as likely as
 * any other; 32 bits alone would give some of 3 · 2³⁰ cells twice the share of others.
 */
export function cellAt(x: number, high: number, scale: number): number {
  return ((scattered(x) >>> 0) + (high >>> 11) / 0x20_0000) * scale
}

/** Sets in `words` all bits of `others`, and answers how many are set then. */
export function united(words: Uint32Array, others: Uint32Array): number {
  for (let at = 0; at < words.length; at++) words[at] |= others[at]
  return onesIn(words)
}

/** How many bits of words `from` to `to` are set. */
export function onesIn(words: Uint32Array, from: number = 0, to: number = words.length): number {
  let sum = 0
  for (let at = from; at < to; at++) sum += onesOf(words[at])
  return sum
}

/** How many of 4-bit counters are not 0. */
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
