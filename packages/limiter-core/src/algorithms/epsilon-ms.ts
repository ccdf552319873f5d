/**
 * Tolerance of 1 µs for rounding errors in sums of doubles. Without it, a request could be denied at the time that
 * `retryAfterMs` returned, or a refund could miss the window of its take.
 */
export const EPSILON_MS = 0.001
