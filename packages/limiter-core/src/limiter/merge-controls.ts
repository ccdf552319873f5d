import type { LimiterControls, PolicyControl } from '../contracts.ts'
import { mostPermissive } from '../policy/mode.ts'

/**
 * Combines the controls of several owners: the more permissive mode, the smaller limit and the longest block apply.
 * Returns undefined if `all` is empty.
 */
export function mergeControls(all: readonly LimiterControls[]): LimiterControls | undefined {
  if (all.length < 2) return all[0]
  const policies = new Map<string, PolicyControl>()
  for (const [name, control] of all.flatMap((one) => [...one.policies])) {
    const known = policies.get(name)
    policies.set(name, known ? joined(known, control) : control)
  }
  return { policies, blockedMs: (key, policy) => Math.max(...all.map((one) => one.blockedMs(key, policy))) }
}

function joined(one: PolicyControl, other: PolicyControl): PolicyControl {
  const limit = Math.min(one.limit ?? Number.POSITIVE_INFINITY, other.limit ?? Number.POSITIVE_INFINITY)
  return {
    mode: mostPermissive([one.mode, other.mode]),
    limit: Number.isFinite(limit) ? limit : undefined,
  }
}
