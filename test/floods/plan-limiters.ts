import { RateGate } from '@sluice/http'
import type { Decision, Limiter, PolicyInput } from '@sluice/limiter-core'
import type { Scene } from './scene.ts'

/** Limiters of several plans, each with one policy of the same name. */
export function planLimiters(
  plans: readonly PolicyInput[],
  given: Pick<Scene, 'backend' | 'clock'> & { readonly scope?: string },
): Limiter<Decision>[] {
  const named = plans.map((policy, plan) => [`plan ${plan}`, [{ ...policy, name: 'quota' }]] as const)
  const guard = new RateGate({ plans: Object.fromEntries(named), plan: () => undefined, ...given } as never)
  return named.map(([plan]) => guard.limiter(plan) as unknown as Limiter<Decision>)
}
