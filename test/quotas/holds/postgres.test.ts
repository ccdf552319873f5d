import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger, type SqlLedger } from '@sluice/counters/postgres'
import { eachSeed } from '@sluice/testkit'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { holdSuite } from './hold-suite.ts'
import { HoldWalk } from './hold-walk.ts'

let postgres: PostgresServer
let ledger: SqlLedger
let scopes = 0

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  // one pool, because the server has a hundred connections
  ledger = postgresLedger(postgres.pool({ max: 8 }))
  await ledger.migrate()
})
afterAll(() => postgres.stop())

describe('holds of quotas in PostgreSQL', () => {
  holdSuite({ describe, expect, test }, async () => ({ ledger, scope: `scope-${++scopes}` }))

  test('random holds of several processes have the results of the model', () =>
    eachSeed(3, async (random) => {
      expect(await new HoldWalk(ledger, `walk-${++scopes}`, random).run(100)).toBeUndefined()
    }))
})
