import { median } from './median.mjs'

/** The median of measurements, and its uncertainty: two standard errors. */
export function spreadOf(values) {
  const middle = median(values)
  const deviation = 1.4826 * median(values.map((value) => Math.abs(value - middle)))
  return { median: middle, within: (2 * 1.2533 * deviation) / Math.sqrt(values.length) }
}
