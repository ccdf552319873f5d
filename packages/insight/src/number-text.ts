export const whole: Intl.NumberFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
export const tenths: Intl.NumberFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** With thousands: `98,000`. */
export function count(value: number): string {
  return whole.format(value)
}
