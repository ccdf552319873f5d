/** The largest number of the given times, in ascending order, that are within any one window. */
export function mostInAny(times: readonly number[], windowMs: number): number {
  let most = 0
  for (let end = 0, start = 0; end < times.length; end++) {
    while (times[end] - times[start] >= windowMs) start++
    most = Math.max(most, end - start + 1)
  }
  return most
}
