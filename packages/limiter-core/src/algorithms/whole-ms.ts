/**
 * Returns the smallest integer of milliseconds, at least 1, for which `passes` returns true; `passes` must be
 * monotonic. The search starts at `guess`, which may have rounding errors. Its steps double, because very large times
 * are rounded to multiples of many milliseconds. Returns Infinity if `passes` is never true.
 */
export function firstWholeMs(guess: number, passes: (ms: number) => boolean): number {
  let passing = Math.max(1, Math.ceil(guess))
  let failing = passing - 1
  for (let stride = 1; !passes(passing); stride *= 2) {
    // happens only if the clock returned NaN
    if (!(passing < Number.POSITIVE_INFINITY)) return Number.POSITIVE_INFINITY
    failing = passing
    passing += stride
  }
  for (let stride = 1; failing > 0 && passes(failing); stride *= 2) {
    passing = failing
    failing = Math.max(0, failing - stride)
  }
  return passing - failing > 1 ? firstBetween(failing, passing, passes) : passing
}

/** Returns the smallest integer of milliseconds, at least 1, after which `instant` is reached. */
export function wholeMsUntil(instant: number, now: number): number {
  const guess = Math.max(1, Math.ceil(instant - now))
  if (now + guess >= instant && (guess === 1 || now + (guess - 1) < instant)) return guess
  return firstWholeMs(guess, (ms) => now + ms >= instant)
}

/** Returns the smallest integer above `failing` and up to `passing` that passes, by bisection. */
function firstBetween(failing: number, passing: number, passes: (ms: number) => boolean): number {
  let low = failing
  let high = passing
  for (;;) {
    const middle = low + Math.floor((high - low) / 2)
    if (middle <= low || middle >= high) return high
    if (passes(middle)) high = middle
    else low = middle
  }
}
