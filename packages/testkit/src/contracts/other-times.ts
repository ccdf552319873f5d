const YEAR_MS = 365 * 24 * 3_600_000

/** Ms from now to times ahead and behind: a part of a window, about one and two windows, many, and years. */
export function otherTimes(windowMs: number): number[] {
  const ahead = [
    1,
    windowMs / 10,
    windowMs / 2,
    windowMs - 1,
    windowMs,
    windowMs + 1,
    2 * windowMs,
    2 * windowMs + 1,
    10 * windowMs,
    YEAR_MS,
    50 * YEAR_MS,
  ]
  return ahead.flatMap((ms) => [ms, -ms])
}
