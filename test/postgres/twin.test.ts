import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { postgresBackend } from '@sluice/postgres'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import type { Pool } from 'pg'
import { decideLikeMemory } from '../backends/twin-of-memory.ts'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { ownSchema } from './own-schema.ts'

const RUNS = 6
const PROCESSES = 3

let server: PostgresServer
let pool: Pool

beforeAll(async () => {
  server = await startPostgres({ fsync: false })
  pool = server.pool()
})

afterAll(() => server.stop())

test('several processes decide together like one process in memory, with all algorithms', async () => {
  const schema = ownSchema()
  await postgresBackend(pool, { schema }).migrate()
  let requests = 0
  await eachSeed(RUNS, async (random) => {
    await pool.query(`truncate ${schema}.limits`)
    requests += await decideLikeMemory(random, async (clock) =>
      Array.from({ length: PROCESSES }, () => postgresBackend(pool, { schema, clock, serverTime: () => clock.now() })),
    )
  })
  expect(requests).toBeGreaterThan(numberOfRuns(RUNS) * 120)
})
