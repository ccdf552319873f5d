// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a whole hash
export const imul: typeof Math.imul = Math.imul

/** The high 16 bits of two sums, scattered: one half of a hash. */
export function joinedSums(even: number, odd: number): number {
  return scattered((even >>> 16) | (odd & 0xffff0000))
}

/**
 * Spreads the bits of an int32 over an int32. A bijection, so it takes nothing from a bound. Without it addresses in a
 * row would be numbers in a row, and fill a table's sets in stripes. The constants are lowbias32 of C. Wellons' hash-prospector (public domain).
 */
export function scattered(x: number): number {
  const y = imul(x ^ (x >>> 16), 0x7feb352d)
  const z = imul(y ^ (y >>> 15), 0x846ca68b)
  return z ^ (z >>> 16)
}
