import { expect, test } from '@jest/globals'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { liveAsTwins } from './twin-history.ts'

const postgres = postgresForTests({ fsync: false })

test('SQL and TypeScript compute identical numbers: 6,000 random steps', async () => {
  let taken = 0
  await eachSeed(6, async (random) => {
    taken += await liveAsTwins(postgres.pool, random, 1_000)
  })
  expect(taken).toBeGreaterThanOrEqual(numberOfRuns(6_000))
}, 60_000)
