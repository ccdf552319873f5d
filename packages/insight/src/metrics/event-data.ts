/** Returns the value if it is a finite number of at least 0, otherwise 0. Event data is untyped. */
export function amountOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : 0
}
