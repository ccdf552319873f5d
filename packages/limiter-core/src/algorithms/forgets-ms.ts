import type { CompiledPolicy } from '../contracts.ts'
import { capacityOf } from './policy-forms.ts'

/**
 * Returns the milliseconds after which nothing that a key has taken matters, over all variants if plans have several.
 */
export function forgetsMs({ policy, variants }: CompiledPolicy): number {
  const policies = variants?.map(({ compiled }) => compiled.policy) ?? [policy]
  const most = Math.max(...policies.map(capacityOf))
  // two epochs, or until the largest debt that a take leaves has drained
  return Math.max(...policies.map(({ windowMs, limit }) => 2 * windowMs * Math.max(1, most / limit)))
}
