import type { Step } from '../contracts.ts'
import { capacityOf } from './policy-forms.ts'

/** Milliseconds after which nothing matters any more of what a key has taken: of all variants, where plans have several. */
export function forgetsMs({ policy, variants }: Step): number {
  const policies = variants?.map(({ step }) => step.policy) ?? [policy]
  const most = Math.max(...policies.map(capacityOf))
  // two epochs, or until the largest debt that a take leaves has drained
  return Math.max(...policies.map(({ windowMs, limit }) => 2 * windowMs * Math.max(1, most / limit)))
}
