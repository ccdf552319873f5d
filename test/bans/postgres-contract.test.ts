import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { postgresBackend } from '@sluice/postgres'
import { banContract, FakeClock } from '@sluice/testkit'
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

describe('postgresBackend of several processes', () =>
  banContract({ describe, test }, async (processes) => {
    await pool.query('truncate sluice.limits')
    const clock = new FakeClock({ nowMs: 1_000 })
    const backends = Array.from({ length: processes }, () =>
      postgresBackend(pool, { serverTime: () => clock.now(), clock }),
    )
    return { clock, backends }
  }))
