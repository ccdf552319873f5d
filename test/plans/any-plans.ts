import type { AlgorithmName } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'
import { algorithmNames, drainingNames } from '../algorithms/any-policy.ts'
import type { PlanPolicy } from './plan-site.ts'

export type Plans = Readonly<Record<string, PlanPolicy>>

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

/** A small plan with this algorithm: some units per minute or per ten minutes. */
export function smallPlan(algorithm: AlgorithmName, random: SeededRandom): PlanPolicy {
  return shaped({ algorithm, limit: 1 + random.whole(8), windowMs: random.pick([MINUTE, 10 * MINUTE]) }, random)
}

/**
 * A plan larger than the small one: everything that the small plan admits fits here, by both rates and twice the
 * burst of the small one. The log, limited to 128 units, has a window in which that is enough.
 */
export function largerPlan(algorithm: AlgorithmName, small: PlanPolicy, random: SeededRandom): PlanPolicy {
  const windowMs = random.pick(algorithm === 'sliding-log' ? [MINUTE, 10 * MINUTE] : [MINUTE, 10 * MINUTE, HOUR])
  const most = 2 * small.limit + (2 * small.limit * windowMs) / small.windowMs
  const limit = Math.ceil(most) + random.whole(algorithm === 'sliding-log' ? 1 : 100)
  if (algorithm !== 'sliding-log' || limit <= 128) return shaped({ algorithm, limit, windowMs }, random)
  return { algorithm, limit: 4 * small.limit, windowMs: Math.min(windowMs, small.windowMs) }
}

function shaped(policy: PlanPolicy, random: SeededRandom): PlanPolicy {
  const { algorithm, limit } = policy
  if (algorithm === 'sliding-window' && random.whole(2) === 0) return { ...policy, slices: random.pick([2, 5, 10]) }
  const drains = drainingNames.includes(algorithm)
  return drains && random.whole(3) === 0 ? { ...policy, burst: limit + random.whole(limit) } : policy
}

/** Any plan, of random size. */
export function anyPlan(random: SeededRandom): PlanPolicy {
  const algorithm = random.pick(algorithmNames)
  return shaped({ algorithm, limit: 1 + random.whole(20), windowMs: random.pick([1_000, MINUTE, 10 * MINUTE]) }, random)
}
