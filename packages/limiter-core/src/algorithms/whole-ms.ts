/**
 * The first whole number of ms, at least 1, after which `passes` holds; `passes` never turns false again.
 * `guess` comes from arithmetic with rounding errors, so it is only where the search starts: in strides that double,
 * since far from now a double tells ms apart only by the thousand.
 */
export function firstWholeMs(guess: number, passes: (ms: number) => boolean): number {
  let passing = Math.max(1, Math.ceil(guess))
  let failing = passing - 1
  for (let stride = 1; !passes(passing); stride *= 2) {
    // only a reading of the clock that is no number gets here
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
