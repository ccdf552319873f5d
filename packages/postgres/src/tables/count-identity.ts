import type { SqlRunner } from '@sluice/limiter-core'

const identities = new WeakMap<SqlRunner, Map<string, object>>()

/** Returns an object that identifies the tables: the same object for each call with the same client and schema. */
export function countIdentity(sql: SqlRunner, schema: string): object {
  const known = identities.get(sql) ?? new Map<string, object>()
  identities.set(sql, known)
  const identity = known.get(schema) ?? {}
  known.set(schema, identity)
  return identity
}
