import { expect, test } from '@jest/globals'
import { postgresBackend } from '@sluice/postgres'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { decideLikeMemory } from '../backends/twin-of-memory.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { ownSchema } from './own-schema.ts'

const RUNS = 6
const PROCESSES = 3

const postgres = postgresForTests({ fsync: false })

test('several processes decide together like one process in memory, with all algorithms', async () => {
  const schema = ownSchema()
  await postgresBackend(postgres.pool, { schema }).migrate()
  let requests = 0
  await eachSeed(RUNS, async (random) => {
    await postgres.pool.query(`truncate ${schema}.limits`)
    requests += await decideLikeMemory(random, async (clock) =>
      Array.from({ length: PROCESSES }, () =>
        postgresBackend(postgres.pool, { schema, clock, serverTime: () => clock.now() }),
      ),
    )
  })
  expect(requests).toBeGreaterThan(numberOfRuns(RUNS) * 120)
})
