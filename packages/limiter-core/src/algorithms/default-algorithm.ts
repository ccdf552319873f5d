import type { AlgorithmName, Backend } from '../contracts.ts'

/** Up to this limit, one timestamp per unit costs little and makes `retryAfterMs` exact. */
const LARGEST_LOG = 32

/**
 * Returns the default algorithm: `sliding-log` for limits up to 32 if the backend supports it, otherwise
 * `sliding-window`. For plans that share a count, `largestLimit` is the largest of their limits.
 */
export function defaultAlgorithm(largestLimit: number, { algorithms }: Pick<Backend, 'algorithms'>): AlgorithmName {
  const keepsLog = algorithms?.includes('sliding-log') ?? true
  return largestLimit <= LARGEST_LOG && keepsLog ? 'sliding-log' : 'sliding-window'
}
