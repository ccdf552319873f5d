/** The amount of each key, counted in a `Map`. */
export interface ExactCounts {
  readonly total: number
  of(key: string): number
  /** Returns the `n` most frequent keys, most frequent first, equal ones by key. */
  top(n: number): string[]
}

export function exactly(events: Iterable<readonly [key: string, amount: number]>): ExactCounts {
  const counts = new Map<string, number>()
  let total = 0
  for (const [key, amount] of events) {
    counts.set(key, (counts.get(key) ?? 0) + amount)
    total += amount
  }
  const byCount = (): [string, number][] => [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  return {
    total,
    of: (key) => counts.get(key) ?? 0,
    top: (n) =>
      byCount()
        .slice(0, n)
        .map(([key]) => key),
  }
}
