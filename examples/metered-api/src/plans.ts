import { type Quotas, quota } from '@sluice/counters/quotas'
import type { PolicyInput } from '@sluice/express'

export type Plan = 'free' | 'team' | 'business'

/** Who may call, by API key. A shop would ask its database. */
export const customers: ReadonlyMap<string, Plan> = new Map([
  ['key-ada', 'free'],
  ['key-bob', 'team'],
  ['key-eve', 'business'],
])

/** A burst limit in each process, and what a month includes in all of them: a call takes of both, or of none. */
export function plansOn(quotas: Quotas): Record<Plan, readonly PolicyInput[]> {
  const monthly = (limit: number, carryOver = 0): PolicyInput =>
    quota({ name: 'monthly', limit, per: 'month', timeZone: 'UTC', carryOver, unit: 'calls', backend: quotas })
  const burst = (limit: number): PolicyInput => ({ name: 'burst', limit, window: '1s' })
  return {
    free: [burst(100), monthly(200)],
    team: [burst(200), monthly(50_000)],
    business: [burst(1_000), monthly(1_000_000, 100_000)],
  }
}
