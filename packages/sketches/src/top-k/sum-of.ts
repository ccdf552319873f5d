import { SketchError, wholeAmount } from '../sketch-error.ts'

/** Returns `total` plus `amount`; throws `SLUICE_BAD_AMOUNT` unless it is an integer from 0 to 2^53 - 1. */
export function sumOf(total: number, amount: number): number {
  const sum = total + wholeAmount(amount)
  if (sum <= Number.MAX_SAFE_INTEGER) return sum
  throw new SketchError(
    'SLUICE_BAD_AMOUNT',
    `amount: expected a total of at most 2^53 - 1, received ${amount} in addition to ${total}`,
  )
}
