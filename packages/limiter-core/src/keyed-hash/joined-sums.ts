// a local constant: in a vm context (a jest test), each lookup of the global Math costs more than a whole hash
export const imul: typeof Math.imul = Math.imul

/** Joins the high 16 bits of two sums and scatters them: one half of a hash. */
export function joinedSums(even: number, odd: number): number {
  return scatterBits((even >>> 16) | (odd & 0xffff0000))
}

/**
 * Mixes the bits of an int32. It is a bijection, so collision bounds stay valid. Without it, consecutive addresses
 * would hash to evenly spaced numbers and fill the sets of a table unevenly. The constants are those of lowbias32 from
 * C. Wellons' hash-prospector (public domain).
 */
export function scatterBits(x: number): number {
  const y = imul(x ^ (x >>> 16), 0x7feb352d)
  const z = imul(y ^ (y >>> 15), 0x846ca68b)
  return z ^ (z >>> 16)
}
