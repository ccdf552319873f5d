import type { Decision } from '@sluice/limiter-core'

/** Sources of decisions that were to count nothing: a key source denied, an operator blocked the key or switched all policies off. */
const BY_CHOICE = new Set(['key', 'blocked', 'exempt', 'off'])

/** False where a failure rule answered in the place of a backend. */
export function countedAsAsked({ counted, source }: Decision): boolean {
  return counted || BY_CHOICE.has(source)
}
