/**
 * Returns the first whole number of milliseconds, at least 1, for which `passes` returns true; `passes` must be
 * monotonic. `guess` may have rounding errors and is only the start of the search. The steps double, because far from
 * the present a double distinguishes milliseconds only by the thousand.
 */
export function firstWholeMs(guess: number, passes: (ms: number) => boolean): number {
  let passing = Math.max(1, Math.ceil(guess))
  let failing = passing - 1
  for (let stride = 1; !passes(passing); stride *= 2) {
    // reached only if the clock returned NaN
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

/** The first whole number of ms, at least 1, after which it is `instant`. */
export function wholeMsUntil(instant: number, now: number): number {
  const guess = Math.max(1, Math.ceil(instant - now))
  if (now + guess >= instant && (guess === 1 || now + (guess - 1) < instant)) return guess
  return firstWholeMs(guess, (ms) => now + ms >= instant)
}

/** The first that passes of the numbers above `failing`, up to `passing`. */
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
