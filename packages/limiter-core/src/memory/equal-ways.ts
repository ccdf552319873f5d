import { WAYS } from './page-layout.ts'

/**
 * A bit for each way of a set whose low half is `low`. Without branches: a way that is guessed wrong costs more than
 * seven comparisons.
 */
export function equalWays(words: Int32Array, from: number, low: number): number {
  return (
    equalBit(words[from], low) |
    (equalBit(words[from + 1], low) << 1) |
    (equalBit(words[from + 2], low) << 2) |
    (equalBit(words[from + 3], low) << 3) |
    (equalBit(words[from + 4], low) << 4) |
    (equalBit(words[from + 5], low) << 5) |
    (equalBit(words[from + 6], low) << 6) |
    (equalBit(words[from + WAYS - 1], low) << (WAYS - 1))
  )
}

/** 1 where two int32 are equal, else 0: x or its negative has the sign bit unless x is 0. */
function equalBit(a: number, b: number): number {
  const x = a ^ b
  return ((x | (0 - x)) >>> 31) ^ 1
}
