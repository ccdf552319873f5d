import type { AlgorithmName, Backend } from '../contracts.ts'

/** Largest limit for which the exact `sliding-log` is the default: one timestamp per unit still needs little memory. */
const LARGEST_DEFAULT_LOG = 32

/**
 * Returns the default algorithm: `sliding-log` for limits up to 32 if the backend supports it, otherwise
 * `sliding-window`. If plans share a count, `largestLimit` is the largest of their limits.
 */
export function defaultAlgorithm(largestLimit: number, { algorithms }: Pick<Backend, 'algorithms'>): AlgorithmName {
  const supportsLog = algorithms?.includes('sliding-log') ?? true
  return largestLimit <= LARGEST_DEFAULT_LOG && supportsLog ? 'sliding-log' : 'sliding-window'
}
