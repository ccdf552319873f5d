import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { zoneSuite } from './zone-suite.ts'

let postgres: PostgresServer
let scopes = 0

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  await postgresLedger(postgres.pool()).migrate()
})
afterAll(() => postgres.stop())

describe('zones of keys in PostgreSQL', () => {
  zoneSuite({ describe, expect, test }, async () => ({
    ledger: postgresLedger(postgres.pool({ max: 4 })),
    scope: `scope-${++scopes}`,
  }))
})
