import { badOption } from '@sluice/limiter-core/backend'

const DECIMAL = /^(\d{1,12})(?:\.(\d{1,6}))?$/

/** Millionths of a currency unit in one unit. */
const MICROS = 1_000_000n

/**
 * Converts a decimal number such as `'2.50'` to millionths, without a floating-point number. Throws `SLUICE_BAD_OPTION`
 * unless it is a string of up to twelve digits, and up to six after a point.
 */
export function microsOf(option: string, value: unknown): bigint {
  const found = typeof value === 'string' ? DECIMAL.exec(value) : null
  if (!found)
    throw badOption(option, value, "a decimal number in a string such as '2.50', with at most 6 decimal places")
  const [, whole, fraction = ''] = found
  return BigInt(whole) * MICROS + BigInt(fraction.padEnd(6, '0'))
}
