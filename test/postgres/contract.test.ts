import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { postgresBackend } from '@sluice/postgres'
import { backendContract } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../services/postgres-server.ts'
import { ownSchema } from './own-schema.ts'

let server: PostgresServer
let pool: Pool

beforeAll(async () => {
  server = await startPostgres()
  pool = server.pool()
})

afterAll(() => server.stop())

describe('postgresBackend on a server', () => {
  backendContract({ describe, test }, async (clock) => {
    const backend = postgresBackend(pool, { schema: ownSchema(), serverTime: () => clock.now(), clock })
    await backend.migrate()
    return backend
  })
})
