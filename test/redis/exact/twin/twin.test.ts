import { expect, test } from '@jest/globals'
import { redisBackend } from '@sluice/redis'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { decideLikeMemory } from '../../../backends/twin-of-memory.ts'
import { redisClientForTests } from '../../../services/redis/redis-for-tests.ts'
import { ownPrefix } from '../own-prefix.ts'

const RUNS = 12
const PROCESSES = 3

const redis = redisClientForTests()

test('several processes decide together like one process in memory, with all algorithms', async () => {
  let requests = 0
  await eachSeed(RUNS, async (random) => {
    const prefix = ownPrefix()
    requests += await decideLikeMemory(
      random,
      async (clock) =>
        Array.from({ length: PROCESSES }, () =>
          redisBackend(redis.client, { prefix, clock, serverTime: () => clock.now() }),
        ),
      // requests sent at the same time may reach Redis in another order: some wait until the server is identified
      { sequential: true },
    )
  })
  expect(requests).toBeGreaterThan(numberOfRuns(RUNS) * 120)
})
