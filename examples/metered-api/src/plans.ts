import type { PolicyInput } from '@sluice/express'
import { type Quotas, quota } from '@sluice/quotas'

export type Plan = 'free' | 'team' | 'business'

/** Customers by API key. A real application would query its database. */
export const customers: ReadonlyMap<string, Plan> = new Map([
  ['key-ada', 'free'],
  ['key-bob', 'team'],
  ['key-eve', 'business'],
])

/** A burst limit per process, and a monthly quota across all processes: a call is charged to both, or to none. */
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
