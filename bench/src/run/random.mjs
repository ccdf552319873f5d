/** mulberry32: seeded floats in [0, 1), so that every run sees the same traffic. */
export function seededRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function shuffled(items, random) {
  const mixed = items.slice()
  for (let last = mixed.length - 1; last > 0; last--) {
    const pick = Math.floor(random() * (last + 1))
    const kept = mixed[last]
    mixed[last] = mixed[pick]
    mixed[pick] = kept
  }
  return mixed
}
