/**
 * 1 µs: tolerance for rounding errors in sums of doubles, so that a request that is due is not denied and finds its
 * own window.
 */
export const EPSILON_MS = 0.001
