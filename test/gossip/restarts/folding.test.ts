import { expect, test } from '@jest/globals'
import { baseSeed, eachSeed, seededRandom } from '@sluice/testkit'
import { CountingFleet } from '../agreement/counting-fleet.ts'
import { restarted } from './restarts.ts'

test('ended replicas leave no entries behind, and no units are lost', async () => {
  const { counted, value, entries } = await restarted({ replicas: 5, restarts: 60 }, seededRandom(baseSeed()))
  expect(value).toBe(counted)
  expect(entries).toBeLessThanOrEqual(5 + 10)
})

test('a replica that was declared gone keeps counting, and no units are lost or counted twice', async () => {
  await eachSeed(3, async (random) => {
    const fleet = new CountingFleet(random, { loss: 0.05, delayMs: 20 }, 2_000)
    for (let n = 0; n < 5; n++) fleet.start()
    await fleet.net.run(3_000, 100)
    let counted = 0
    const count = async (): Promise<void> => {
      for (const { counters } of fleet.replicas) await counters.increment('a', 3)
      counted += 3 * fleet.replicas.length
    }
    for (let n = 0; n < 10; n++) {
      await count()
      await fleet.net.run(100)
    }
    // includes the oldest replica, which takes over the entries of others
    fleet.net.part((index) => index < 2)
    for (let n = 0; n < 50; n++) {
      await count()
      await fleet.net.run(100, 50)
    }
    expect(new Set(await fleet.values('a')).size).toBeGreaterThan(1)
    fleet.net.heal()
    await fleet.agreed(new Map([['a', counted]]), 20_000)
    await count()
    await fleet.agreed(new Map([['a', counted]]), 20_000)
    await fleet.net.run(10_000, 100)
    expect(fleet.entries('a')).toBe(5)
    await fleet.net.stop()
  })
})

test('a fleet that was split in half for a minute agrees within 2 s', async () => {
  const fleet = new CountingFleet(seededRandom(baseSeed()), { delayMs: 10 }, 10_000)
  for (let n = 0; n < 20; n++) fleet.start()
  for (const { counters } of fleet.replicas) await counters.increment('a')
  await fleet.net.run(12_000, 100)
  fleet.net.part((index) => index % 2 === 0)
  let counted = fleet.replicas.length
  for (let n = 0; n < 60; n++) {
    for (const { counters } of fleet.replicas) await counters.increment('a')
    counted += fleet.replicas.length
    await fleet.net.run(1_000, 100)
  }
  // neither half is a majority, so no replica is declared gone
  expect(fleet.entries('a')).toBe(20)
  fleet.net.heal()
  const ms = await fleet.agreed(new Map([['a', counted]]), 10_000)
  process.stdout.write(`20 replicas, half cut off for 60 s: agreed ${ms} ms after\n`)
  expect(ms).toBeLessThanOrEqual(2_000)
  await fleet.net.stop()
})

test.each([
  { killed: 'younger', index: 1, entries: 1 },
  { killed: 'older', index: 0, entries: 2 },
])('of two replicas only the older one takes over entries: $killed killed', async ({ index, entries }) => {
  const fleet = new CountingFleet(seededRandom(baseSeed()), {}, 1_000)
  fleet.start()
  await fleet.net.run(100)
  fleet.start()
  for (const { counters } of fleet.replicas) await counters.increment('a', 2)
  await fleet.net.run(3_000, 100)
  fleet.kill(fleet.replicas[index])
  await fleet.net.run(10_000, 100)
  expect([await fleet.values('a'), fleet.entries('a')]).toEqual([[4], entries])
  await fleet.net.stop()
})
