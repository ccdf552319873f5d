import type { Clock, SqlRunner } from '@sluice/limiter-core/backend'
import { type PostgresBackend, type PostgresBackendOptions, postgresBackend } from '@sluice/postgres'
import { ownSchema } from './own-schema.ts'

/** Creates an empty backend in a schema of its own, by the time of `clock`. */
export async function emptyBackend(
  sql: SqlRunner,
  clock: Clock,
  options: PostgresBackendOptions = {},
): Promise<PostgresBackend> {
  const backend = postgresBackend(sql, { schema: ownSchema(), clock, serverTime: () => clock.now(), ...options })
  await backend.migrate()
  return backend
}
