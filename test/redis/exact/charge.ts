import { algorithms, type Backend, type Charge, type Policy } from '@sluice/limiter-core'

export const minute: Policy = { name: 'minute', algorithm: 'fixed-window', limit: 5, windowMs: 60_000 }
export const hour: Policy = { name: 'hour', algorithm: 'sliding-window', limit: 100, windowMs: 3_600_000 }
export const bucket: Policy = { name: 'bucket', algorithm: 'token-bucket', limit: 50, windowMs: 60_000 }

export function chargeOf(policy: Policy, key: string, cost = 1): Charge {
  const step = algorithms[policy.algorithm].compile(policy)
  return { key, step, count: `exact/${policy.name}/${policy.algorithm}@${step.version}`, cost }
}

/** How many units of the policy the key has left. */
export async function remaining(backend: Backend, policy: Policy, key: string): Promise<number> {
  return (await backend.peek([chargeOf(policy, key)])).verdicts[0].remaining
}
