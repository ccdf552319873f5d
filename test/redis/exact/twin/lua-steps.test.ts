import { expect, test } from '@jest/globals'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { redisClientForTests } from '../../../services/redis/redis-for-tests.ts'
import { liveAsTwins } from './twin-history.ts'

const redis = redisClientForTests()

test('Lua and TypeScript compute identical numbers: 20,000 random steps', async () => {
  let taken = 0
  await eachSeed(8, async (random) => {
    taken += await liveAsTwins(redis.client, random, 2_500)
  })
  expect(taken).toBeGreaterThanOrEqual(numberOfRuns(20_000))
})
