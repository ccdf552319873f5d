/** The number at `share` of the way from `a` to `b`. Never beyond either by rounding or overflow, and rising with `share`. */
export function between(a: number, b: number, share: number): number {
  return a < b ? held(a, b, there(a, b, share)) : held(b, a, there(a, b, share))
}

/** Returns the fraction of the way from `a` to `b` at which `x` lies, where `b` is larger than `a`. */
export function shareOfWay(a: number, b: number, x: number): number {
  const way = b - a
  return way - way === 0 ? (x - a) / way : (x / 2 - a / 2) / (b / 2 - a / 2)
}

function there(a: number, b: number, share: number): number {
  const way = b - a
  // by halves where the difference is not finite: theirs is
  return way - way === 0 ? a + way * share : 2 * (a / 2 + (b / 2 - a / 2) * share)
}

function held(least: number, most: number, value: number): number {
  if (value < least) return least
  if (value > most) return most
  return value
}
