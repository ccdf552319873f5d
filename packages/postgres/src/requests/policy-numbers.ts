import type { AlgorithmName, CompiledPolicy } from '@sluice/limiter-core/backend'

/** Algorithms that the SQL functions implement. */
export const ALGORITHMS: readonly AlgorithmName[] = [
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'token-bucket',
  'gcra',
]

/** Numbers of the algorithms in SQL. */
const KINDS = { fixed: 1, epochs: 2, slices: 3, log: 4, bucket: 5, gcra: 6, variants: 7, holding: 8 } as const
/** Numbers of the roles of variants in SQL. */
const ROLES = { own: 0, larger: 1, charged: 2 } as const
const EPSILON_MS = 0.001
const MAX_EPSILON_UNITS = 0.5

const numbersByPolicy = new WeakMap<CompiledPolicy, readonly number[]>()

/**
 * Returns the numbers of a policy that the SQL functions read as `p`. A policy without variants has six:
 *
 * - fixed window (1) and window of two epochs (2): kind, capacity, windowMs;
 * - sliced window (3): kind, capacity, windowMs, slices, length of a slice in ms;
 * - log (4): kind, capacity, windowMs, room, whether other variants charge the same cells;
 * - token bucket (5): kind, capacity, windowMs, limit, units per ms, tolerance in units;
 * - gcra (6): kind, capacity, windowMs, limit, ms per unit, ms of a full burst.
 *
 * A policy with variants (7): kind, capacity, number of variants, and for each variant its role, perMs, ceiling and six
 * numbers. A policy with holds (8): kind, capacity, length of a slice in ms, and the numbers of the policy.
 */
export function policyNumbers(compiled: CompiledPolicy): readonly number[] {
  let numbers = numbersByPolicy.get(compiled)
  if (!numbers) {
    numbers = numbersOf(compiled)
    numbersByPolicy.set(compiled, numbers)
  }
  return numbers
}

function numbersOf(compiled: CompiledPolicy): readonly number[] {
  const { holds, variants, capacity } = compiled
  if (holds) return [KINDS.holding, capacity, holds.sliceMs, ...policyNumbers(holds.inner)]
  return variants ? variantsNumbers(compiled) : plainNumbers(compiled, false)
}

function variantsNumbers({ capacity, variants = [] }: CompiledPolicy): readonly number[] {
  const each = variants.flatMap(({ compiled, role, perMs, ceiling }) => [
    ROLES[role],
    perMs,
    ceiling,
    ...plainNumbers(compiled, true),
  ])
  return [KINDS.variants, capacity, variants.length, ...each]
}

/** `beside`: whether other variants charge the same cells without checking this policy. */
function plainNumbers({ policy, capacity, room = capacity }: CompiledPolicy, beside: boolean): readonly number[] {
  const { algorithm, limit, windowMs, slices = 1 } = policy
  switch (algorithm) {
    case 'fixed-window':
      return [KINDS.fixed, capacity, windowMs, 0, 0, 0]
    case 'sliding-log':
      return [KINDS.log, capacity, windowMs, room, beside ? 1 : 0, 0]
    case 'token-bucket': {
      const perMs = limit / windowMs
      return [KINDS.bucket, capacity, windowMs, limit, perMs, Math.min(EPSILON_MS * perMs, MAX_EPSILON_UNITS)]
    }
    case 'gcra': {
      const unitMs = windowMs / limit
      return [KINDS.gcra, capacity, windowMs, limit, unitMs, unitMs * capacity]
    }
    default:
      if (slices > 1) return [KINDS.slices, capacity, windowMs, slices, windowMs / slices, 0]
      return [KINDS.epochs, capacity, windowMs, 0, 0, 0]
  }
}
