import type { Decision } from '@sluice/limiter-core'

/**
 * Sources of decisions that are uncounted on purpose: a key source denied the request or exempted it, or an operator
 * blocked the key or switched all policies off, or a policy bans the key.
 */
const BY_CHOICE = new Set(['key', 'blocked', 'banned', 'exempt', 'off'])

/** Returns false if a failure rule decided because the backend was unavailable. */
export function isCountedByBackend({ counted, source }: Decision): boolean {
  return counted || BY_CHOICE.has(source)
}
