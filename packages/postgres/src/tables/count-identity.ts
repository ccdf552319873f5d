import type { SqlRunner } from '@sluice/limiter-core'
import { processWideMap } from '@sluice/limiter-core/backend'

const identities = processWideMap<SqlRunner, Map<string, object>>(Symbol.for('sluice.postgresIdentities@1'))

/** Returns an object that identifies the tables: the same object for each call with the same client and schema. */
export function countIdentity(sql: SqlRunner, schema: string): object {
  const known = identities().get(sql) ?? new Map<string, object>()
  identities().set(sql, known)
  const identity = known.get(schema) ?? {}
  known.set(schema, identity)
  return identity
}
