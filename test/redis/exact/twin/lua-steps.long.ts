import { expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { redisClientForTests } from '../../../services/redis/redis-for-tests.ts'
import { liveAsTwins } from './twin-history.ts'

const redis = redisClientForTests()

test('Lua and TypeScript compute identical numbers: a million random steps', async () => {
  let taken = 0
  await eachSeed(50, async (random) => {
    taken += await liveAsTwins(redis.client, random, 20_000)
  })
  expect(taken).toBeGreaterThanOrEqual(1_000_000)
}, 900_000)
