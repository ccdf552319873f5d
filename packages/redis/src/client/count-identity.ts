import type { ScriptRunner } from '@sluice/limiter-core'
import { processWideMap } from '@sluice/limiter-core/backend'

const identities = processWideMap<ScriptRunner, Map<string, object>>(Symbol.for('sluice.redisIdentities@1'))

/**
 * Returns an object that identifies the storage behind a client and a key prefix: the same object for each call with
 * the same two arguments.
 */
export function countIdentity(runner: ScriptRunner, prefix: string): object {
  const known = identities().get(runner) ?? new Map<string, object>()
  identities().set(runner, known)
  const identity = known.get(prefix) ?? {}
  known.set(prefix, identity)
  return identity
}
