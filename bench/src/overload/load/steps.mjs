// A value that changes at certain times is a list of steps `[fromMs, value]`, the first at 0.

export function valueAt(steps, atMs) {
  let value = steps[0][1]
  for (const [fromMs, next] of steps) {
    if (fromMs > atMs) break
    value = next
  }
  return value
}

/** Returns the time of the first step after `atMs`, Infinity if there are no more. */
export function nextStepAfter(steps, atMs) {
  return steps.find(([fromMs]) => fromMs > atMs)?.[0] ?? Number.POSITIVE_INFINITY
}
