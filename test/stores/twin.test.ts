import { expect, test } from '@jest/globals'
import { storeBackend } from '@sluice/stores'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { decideLikeMemory } from '../backends/twin-of-memory.ts'
import { MemoryRowStore, MemoryRows } from './memory-row-store.ts'

const RUNS = 20
const PROCESSES = 3

test('several processes decide together like one process in memory', async () => {
  let requests = 0
  await eachSeed(RUNS, async (random) => {
    const rows = new MemoryRows()
    requests += await decideLikeMemory(random, async (clock) =>
      Array.from({ length: PROCESSES }, () => {
        const options = { clock, serverTime: () => clock.now(), maxBatch: random.pick([1, 3, 1_000]) }
        return storeBackend(new MemoryRowStore(rows, random.pick([10, undefined])), options)
      }),
    )
  })
  expect(requests).toBeGreaterThan(numberOfRuns(RUNS) * 120)
})
