import { createHash } from 'node:crypto'

/** By which a change says what it was made of: two servers may have different states under one version after a failover. */
export function stateHash(state: string): string {
  return createHash('sha256').update(state).digest('hex')
}
