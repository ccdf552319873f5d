import type { Backend, Charge, Policy } from '@sluice/limiter-core/backend'
import { openedCounter } from '@sluice/testkit'

export const minute: Policy = { name: 'minute', algorithm: 'fixed-window', limit: 5, windowMs: 60_000 }
export const hour: Policy = { name: 'hour', algorithm: 'sliding-window', limit: 100, windowMs: 3_600_000 }
export const bucket: Policy = { name: 'bucket', algorithm: 'token-bucket', limit: 50, windowMs: 60_000 }

export function chargeOf(backend: Backend, policy: Policy, key: string, cost = 1): Charge {
  return { key, counter: openedCounter(backend, 'exact', policy), cost }
}

/** Returns the units of the policy that the key has left. */
export async function remaining(backend: Backend, policy: Policy, key: string): Promise<number> {
  return (await backend.peekAll([chargeOf(backend, policy, key)])).verdicts[0].remaining
}
