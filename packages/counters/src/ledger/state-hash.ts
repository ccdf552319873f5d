import { createHash } from 'node:crypto'

/**
 * Returns a hash that identifies the state a change is based on. The version alone is ambiguous: after a failover, two
 * servers may have different states with the same version.
 */
export function stateHash(state: string): string {
  return createHash('sha256').update(state).digest('hex')
}
