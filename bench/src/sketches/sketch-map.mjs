/** The obvious solution: a Map with a counter per key. */
export function openMap() {
  const map = new Map()
  const add = (key) => {
    const entry = map.get(key)
    if (entry === undefined) map.set(key, { n: 1 })
    else entry.n++
  }
  return { add, estimate: (key) => map.get(key)?.n ?? 0 }
}
