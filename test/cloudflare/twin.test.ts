import { expect, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { decideLikeMemory } from '../backends/twin-of-memory.ts'
import { InProcessObjects } from './in-process-objects.ts'

const RUNS = 20
const ISOLATES = 3

test('several isolates decide together like one process in memory, while objects are evicted and restarted', async () => {
  let requests = 0
  await eachSeed(RUNS, async (random) => {
    const objects = new InProcessObjects()
    // all keys in one object: calls of several objects, like several calls of one, are not decided in the order of their requests
    const options = { shards: 1, durable: random.whole(2) === 0 }
    requests += await decideLikeMemory(
      random,
      async (clock) =>
        Array.from({ length: ISOLATES }, () =>
          durableObjectBackend(objects, { ...options, clock, serverTime: () => clock.now() }),
        ),
      {
        afterStep: () => {
          if (random.whole(10) === 0) objects.restart()
        },
      },
    )
  })
  expect(requests).toBeGreaterThan(numberOfRuns(RUNS) * 120)
})
