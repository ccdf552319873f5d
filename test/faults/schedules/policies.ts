import type { PolicyInput } from '@sluice/limiter-core'
import type { PolicyName, Schedule } from './schedule.ts'

/** Short, so that leases end while a schedule runs. */
export const LEASE_MS = 400

type Shape = Pick<Schedule, 'algorithm' | 'slices' | 'counting'>

/** Windows so long that no unit expires while a schedule runs, and one that ends many times. */
const LONG = '365d'
export const BRIEF_MS = 1_000

/** The largest limit of a log is 128. */
const MAX_OF_LOG = 128

export function policiesOf({
  algorithm,
  slices,
  counting,
}: Shape): Readonly<Record<PolicyName, PolicyInput & { readonly limit: number }>> {
  const shape = { algorithm, ...(slices > 1 ? { slices } : {}) }
  // the smallest limit of which a process leases enough is ten times as much
  const scale = counting === 'leased' ? 10 : 1
  return {
    roomy: { ...shape, name: 'roomy', limit: algorithm === 'sliding-log' ? MAX_OF_LOG : 10_000, window: LONG },
    tight: { ...shape, name: 'tight', limit: 20 * scale, window: LONG },
    brief: { ...shape, name: 'brief', limit: 10 * scale, window: BRIEF_MS },
  }
}

/** Maximum number of units that a policy admits in any window of its length. */
export function mostInWindow({ algorithm, slices }: Shape, limit: number): number {
  const exact = algorithm === 'sliding-log' || (algorithm === 'sliding-window' && slices > 1)
  return exact ? limit : 2 * limit
}
