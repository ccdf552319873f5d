export const whole: Intl.NumberFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
export const tenths: Intl.NumberFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Formats an integer with thousands separators: `98,000`. */
export function count(value: number): string {
  return whole.format(value)
}
