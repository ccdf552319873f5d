/** What events tell is of any type: a number that can be counted, 0 for anything else. */
export function amountOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : 0
}
