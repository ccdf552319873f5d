import type { AlgorithmName, Backend } from '../contracts.ts'

/** Up to so many units a time for each costs little, and says exactly when the next one is free. */
const LARGEST_LOG = 32

/**
 * The algorithm of a policy that names none: `sliding-log` up to 32 units, where the backend keeps it, else
 * `sliding-window`. Of plans that share a count `largestLimit` is the largest.
 */
export function defaultAlgorithm(largestLimit: number, { algorithms }: Pick<Backend, 'algorithms'>): AlgorithmName {
  const keepsLog = algorithms?.includes('sliding-log') ?? true
  return largestLimit <= LARGEST_LOG && keepsLog ? 'sliding-log' : 'sliding-window'
}
