import { afterAll, beforeAll, describe, test } from '@jest/globals'
import type { Backend, Clock } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { backendContract } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'

let server: PostgresServer
let pool: Pool

beforeAll(async () => {
  server = await startPostgres({ fsync: false })
  pool = server.pool()
  await postgresBackend(pool).migrate()
})

afterAll(() => server.stop())

describe('postgresBackend on a server', () => {
  const makeBackend = async (clock: Clock): Promise<Backend> => {
    await pool.query('truncate sluice.limits')
    return postgresBackend(pool, { serverTime: () => clock.now(), clock })
  }
  backendContract({ describe, test }, makeBackend, { keepsHolds: true })
})
