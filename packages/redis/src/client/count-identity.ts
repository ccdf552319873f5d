import type { ScriptRunner } from '@sluice/limiter-core'

const identities = new WeakMap<ScriptRunner, Map<string, object>>()

/**
 * Returns an object that identifies the storage behind a client and a key prefix: the same object for each call with
 * the same two arguments.
 */
export function countIdentity(runner: ScriptRunner, prefix: string): object {
  const known = identities.get(runner) ?? new Map<string, object>()
  identities.set(runner, known)
  const identity = known.get(prefix) ?? {}
  known.set(prefix, identity)
  return identity
}
