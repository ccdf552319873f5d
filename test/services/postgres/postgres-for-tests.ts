import type { Pool } from 'pg'
import { forTests } from '../for-tests.ts'
import { type PostgresServer, type PostgresServerOptions, startPostgres } from './postgres-server.ts'

/**
 * Starts a PostgreSQL server before the tests of a file or a describe block, and stops it after them. `pool` opens its
 * connections when they are needed.
 */
export function postgresForTests(options: PostgresServerOptions = {}): {
  readonly server: PostgresServer
  readonly pool: Pool
} {
  const postgres = forTests(
    async () => {
      const server = await startPostgres(options)
      return { server, pool: server.pool() }
    },
    ({ server }) => server.stop(),
  )
  return {
    get server() {
      return postgres.current.server
    },
    get pool() {
      return postgres.current.pool
    },
  }
}
