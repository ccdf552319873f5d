import { expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { CountingFleet } from './counting-fleet.ts'

test('100 replicas agree on counters within a second, though one message of ten is lost', async () => {
  const random = seededRandom(baseSeed())
  const fleet = new CountingFleet(random, { loss: 0.1, delayMs: 10 })
  for (let n = 0; n < 100; n++) fleet.start()
  for (const { counters } of fleet.replicas) await counters.increment('warm')
  await fleet.agreed(new Map([['warm', 100]]), 10_000)
  const times: number[] = []
  for (let n = 0; n < 100; n++) {
    await random.pick(fleet.replicas).counters.increment(`id ${n}`)
    times.push(await fleet.agreed(new Map([[`id ${n}`, 1]]), 5_000))
  }
  times.sort((one, other) => one - other)
  process.stdout.write(`100 replicas, 10 % loss: agreed on a unit after ${times[50]} ms (p50), ${times[98]} ms (p99)\n`)
  expect(times[98]).toBeLessThanOrEqual(1_000)
  await fleet.net.stop()
}, 600_000)
