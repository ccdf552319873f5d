import { SluiceError } from '@sluice/limiter-core/backend'

/** The sum of whole numbers, exact also where it leaves ±(2^53 - 1) on its way. Throws `SLUICE_COUNTER_RANGE` where it ends there. */
export function exactSum(values: Iterable<number>): number {
  const all = [...values]
  let sum = 0
  for (const value of all) {
    sum += value
    if (!Number.isSafeInteger(sum)) return longSum(all)
  }
  return sum
}

function longSum(values: readonly number[]): number {
  const sum = Number(values.reduce((total, value) => total + BigInt(value), 0n))
  if (Number.isSafeInteger(sum)) return sum
  throw new SluiceError('SLUICE_COUNTER_RANGE', 'value: expected one within, received a sum beyond ±(2^53 - 1)')
}
