import type { CompiledPolicy } from '../contracts.ts'
import { capacityOf } from './policy-forms.ts'

/** Milliseconds after which nothing matters any more of what a key has taken: of all variants, where plans have several. */
export function forgetsMs({ policy, variants }: CompiledPolicy): number {
  const policies = variants?.map(({ compiled }) => compiled.policy) ?? [policy]
  const most = Math.max(...policies.map(capacityOf))
  // two epochs, or until the largest debt that a take leaves has drained
  return Math.max(...policies.map(({ windowMs, limit }) => 2 * windowMs * Math.max(1, most / limit)))
}
