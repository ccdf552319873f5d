/** Returns, for each name, how many equal names are before it. */
export function repetitions(names: readonly string[]): number[] {
  const times = new Map<string, number>()
  return names.map((name) => {
    const before = times.get(name) ?? 0
    times.set(name, before + 1)
    return before
  })
}
