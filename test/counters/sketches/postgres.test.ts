import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../../services/postgres-server.ts'
import { runClaim, sketchClaims } from './sketch-claims.ts'

let postgres: PostgresServer
let pool: Pool
let made = 0

beforeAll(async () => {
  postgres = await startPostgres()
  pool = postgres.pool()
  await postgresLedger(pool).migrate()
})
afterAll(() => postgres.stop())

describe('sketches in PostgreSQL', () => {
  test.each(Object.keys(sketchClaims))('%s', (claim) =>
    runClaim(claim, (clock) => postgresLedger(pool, { clock }), { name: `sketches-${++made}` }),
  )
})
