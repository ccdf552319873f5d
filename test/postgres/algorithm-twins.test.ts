import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { liveAsTwins } from './twin-history.ts'

let server: PostgresServer
let pool: Pool

beforeAll(async () => {
  server = await startPostgres({ fsync: false })
  pool = server.pool()
})

afterAll(() => server.stop())

test('SQL and TypeScript compute identical numbers: 6,000 random steps', async () => {
  let taken = 0
  await eachSeed(6, async (random) => {
    taken += await liveAsTwins(pool, random, 1_000)
  })
  expect(taken).toBeGreaterThanOrEqual(numberOfRuns(6_000))
}, 60_000)
