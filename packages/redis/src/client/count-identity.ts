import type { ScriptRunner } from '@sluice/limiter-core'

const identities = new WeakMap<ScriptRunner, Map<string, object>>()

/** The one object of all that counts over a client under a name that what is stored begins with. */
export function countIdentity(runner: ScriptRunner, prefix: string): object {
  const known = identities.get(runner) ?? new Map<string, object>()
  identities.set(runner, known)
  const identity = known.get(prefix) ?? {}
  known.set(prefix, identity)
  return identity
}
