import type { AlgorithmName, Policy } from '@sluice/limiter-core'

const MINUTE = 60_000
// limits whose units are not whole ms, single units, a burst that differs from the limit, windows that are divisible by
// slices
const SHAPES: Readonly<Record<AlgorithmName, readonly Partial<Policy>[]>> = {
  'fixed-window': [{ limit: 1 }, { limit: 7 }, { limit: 1_000 }],
  'sliding-window': [
    { limit: 1 },
    { limit: 7 },
    { limit: 1_000 },
    { limit: 7, slices: 2 },
    { limit: 1, slices: 3 },
    { limit: 50, slices: 60 },
  ],
  'sliding-log': [{ limit: 1 }, { limit: 7 }, { limit: 128 }],
  'token-bucket': [{ limit: 1 }, { limit: 7 }, { limit: 60, burst: 3 }, { limit: 3, burst: 50 }],
  gcra: [{ limit: 1 }, { limit: 7 }, { limit: 60, burst: 3 }, { limit: 3, burst: 50 }],
}

/** The policies of an algorithm under which the contracts are run. */
export function contractPolicies(algorithm: AlgorithmName): Policy[] {
  return SHAPES[algorithm].map((shape, index) => ({
    name: `${algorithm}-${index}`,
    algorithm,
    limit: 1,
    windowMs: MINUTE,
    ...shape,
  }))
}
