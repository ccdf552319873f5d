/**
 * Returns the smallest integer of milliseconds, at least 1, for which `passes` returns true; `passes` must be
 * monotonic. The search starts at `guess`, which may have rounding errors. Its steps double, because very large times
 * are rounded to multiples of many milliseconds. Returns Infinity if `passes` is never true.
 */
export function firstWholeMs(guess: number, passes: (ms: number) => boolean): number {
  let passing = Math.max(1, Math.ceil(guess))
  let failing = passing - 1
  let stride = 1
  // the second condition is false only if the clock returned NaN
  while (!passes(passing) && passing < Number.POSITIVE_INFINITY) {
    failing = passing
    passing += stride
    stride *= 2
  }
  stride = 1
  while (failing > 0 && passes(failing)) {
    passing = failing
    failing = Math.max(0, failing - stride)
    stride *= 2
  }
  let middle = failing + Math.floor((passing - failing) / 2)
  while (middle > failing && middle < passing) {
    if (passes(middle)) passing = middle
    else failing = middle
    middle = failing + Math.floor((passing - failing) / 2)
  }
  return passing
}

/** Returns the smallest integer of milliseconds, at least 1, after which `instant` is reached. */
export function wholeMsUntil(instant: number, now: number): number {
  const guess = Math.max(1, Math.ceil(instant - now))
  if (now + guess >= instant && (guess === 1 || now + (guess - 1) < instant)) return guess
  return firstWholeMs(guess, (ms) => now + ms >= instant)
}
