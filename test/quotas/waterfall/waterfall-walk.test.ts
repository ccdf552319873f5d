import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import { eachSeed } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { WaterfallWalk } from './waterfall-walk.ts'

const RUNS = 24

describe('a waterfall equals its model at each of many random steps', () => {
  let postgres: PostgresServer
  let pool: Pool

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: false })
    pool = postgres.pool()
    await postgresLedger(pool).migrate()
  })
  afterAll(() => postgres.stop())

  test(
    'in memory',
    () =>
      eachSeed(RUNS, async (random) => {
        const ledger = new MemoryLedger(systemClock)
        const open = async (): Promise<MemoryLedger> => ledger
        await new WaterfallWalk({ random, scope: 'walk', open, crashes: 0.02 }).run(500)
      }),
    120_000,
  )

  test(
    'in PostgreSQL',
    () =>
      eachSeed(Math.ceil(RUNS / 8), async (random, seed) => {
        const open = async () => postgresLedger(pool)
        await new WaterfallWalk({ random, scope: `walk ${seed}`, open, crashes: 0.02 }).run(400)
      }),
    120_000,
  )
})
