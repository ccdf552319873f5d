/** 1 µs: what a sum of doubles may be off without turning away a request that is due, or missing its own window. */
export const EPSILON_MS = 0.001
