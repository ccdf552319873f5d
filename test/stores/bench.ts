import { type Answer, type Backend, type Charge, type Policy, systemClock } from '@sluice/limiter-core/backend'
import { openedCounter } from '@sluice/testkit'

export const LIMIT = 10
export const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: LIMIT, windowMs: 3_600_000 }
export const minute: Policy = { name: 'minute', algorithm: 'sliding-window', limit: LIMIT, windowMs: 60_000 }

export function charge(backend: Backend, cost = 1, key = 'a', policy: Policy = hour): Charge {
  return { key, counter: openedCounter(backend, 'stores', policy), cost }
}

/** Returns the used units of a key. */
export async function used(backend: Backend<Promise<Answer>>, key = 'a', policy: Policy = hour): Promise<number> {
  const { verdicts } = await backend.peekAll([charge(backend, 0, key, policy)])
  return policy.limit - verdicts[0].remaining
}

/** Takes one unit of a key. Returns whether it was admitted. */
export async function take(backend: Backend<Promise<Answer>>, key = 'a', policy: Policy = hour): Promise<boolean> {
  const { verdicts } = await backend.takeAll([charge(backend, 1, key, policy)])
  return verdicts[0].allowed
}

/** Returns a deadline in a number of milliseconds. */
export function within(ms: number): { readonly deadlineAt: number } {
  return { deadlineAt: systemClock.now() + ms }
}
