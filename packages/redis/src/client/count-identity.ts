import type { ScriptRunner } from '@sluice/limiter-core'

const identities = new WeakMap<ScriptRunner, Map<string, object>>()

/** Returns one object for everything that counts over a client under a prefix. */
export function countIdentity(runner: ScriptRunner, prefix: string): object {
  const known = identities.get(runner) ?? new Map<string, object>()
  identities.set(runner, known)
  const identity = known.get(prefix) ?? {}
  known.set(prefix, identity)
  return identity
}
