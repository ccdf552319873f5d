import { SluiceError } from '@sluice/limiter-core/backend'

/**
 * Returns the exact sum of integers, even if intermediate sums leave ±(2^53 - 1). Throws `SLUICE_COUNTER_RANGE` if the
 * final sum does.
 */
export function exactSum(values: Iterable<number>): number {
  const all = [...values]
  let sum = 0
  for (const value of all) {
    sum += value
    if (!Number.isSafeInteger(sum)) return bigIntSum(all)
  }
  return sum
}

function bigIntSum(values: readonly number[]): number {
  const sum = Number(values.reduce((total, value) => total + BigInt(value), 0n))
  if (Number.isSafeInteger(sum)) return sum
  throw new SluiceError(
    'SLUICE_COUNTER_RANGE',
    'value: expected an integer within ±(2^53 - 1), received a sum outside that range',
  )
}
