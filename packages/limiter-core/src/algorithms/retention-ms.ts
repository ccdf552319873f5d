import type { CompiledPolicy } from '../contracts.ts'
import { capacityOf, policiesOf } from './policy-forms.ts'

/** Returns the milliseconds after which a take no longer influences its key, in any variant of the policy. */
export function retentionMs(compiled: CompiledPolicy): number {
  const { policy, holds, bookings } = compiled
  const policies = policiesOf(compiled)
  const most = Math.max(...policies.map(capacityOf))
  // a take counts for up to two epochs of a sliding window, or until the largest debt of a bucket has drained
  const usedMs = policies.map(({ windowMs, limit }) => 2 * windowMs * Math.max(1, most / limit))
  const heldMs = holds ? holds.endsAt(0, policy.maxHoldMs ?? 0) : 0
  return Math.max(...usedMs, heldMs) + (bookings ? bookings.most * bookings.paceMs : 0)
}
