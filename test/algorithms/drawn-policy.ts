import { type AlgorithmName, algorithms, type Policy } from '@sluice/limiter-core/backend'
import type { SeededRandom } from '@sluice/testkit'

/** Every algorithm with each of its options, for tests that compare a translation with its class. */
export const translatedPolicies: readonly Partial<Policy>[] = [
  ...(Object.keys(algorithms) as AlgorithmName[]).map((algorithm) => ({ algorithm })),
  { algorithm: 'sliding-window', slices: 2 },
  { algorithm: 'sliding-window', slices: 7 },
  { algorithm: 'token-bucket', burst: 3 },
  { algorithm: 'gcra', burst: 150 },
]

/** Returns a policy with a random limit and window that its algorithm can have. */
export function drawnPolicy(random: SeededRandom, some: Partial<Policy>): Policy {
  const largest = some.algorithm === 'sliding-log' ? 100 : [100, 10_000][random.whole(2)]
  const limit = 1 + random.whole(largest)
  const shortestMs = some.algorithm === 'gcra' ? limit : 1
  const windowMs = Math.max(shortestMs, 1 + random.whole([1_000, 86_400_000][random.whole(2)]))
  return { name: 'any', limit, windowMs, ...some } as Policy
}
