import { expect, test } from '@jest/globals'
import { eachSeed, SyncedFleet } from '@sluice/testkit'

const MINUTE_MS = 60_000
const policy = { name: 'api', limit: 1_000, window: '1m', algorithm: 'fixed-window' } as const

test('a unit that was charged to the window of another process, which began later, can be refunded', async () => {
  await eachSeed(20, async (random) => {
    const fleet = new SyncedFleet({ nodes: 2, policy, random, network: { delayMs: 5 } })
    const [first, second] = fleet.nodes.map(({ limiter }) => limiter)
    const early = first.take('key', 3)
    await fleet.pass(2 + random.whole(20))
    second.take('key', 400)
    await fleet.pass(3_000)
    // the first process has held its units back, and reports them with these
    first.take('key', 20)
    await fleet.pass(3_000)
    expect(fleet.units('key')).toBe(423)
    await first.charge('key', -2, early)
    await fleet.pass(3_000)
    expect(fleet.units('key')).toBe(421)
    expect(first.peek('key').binding.remaining).toBe(579)
    await fleet.close()
  })
})

test('units of an earlier window cannot be refunded in the next one', async () => {
  await eachSeed(20, async (random) => {
    const fleet = new SyncedFleet({ nodes: 2, policy, random, network: { delayMs: 5 }, sync: { floor: 0 } })
    const [first, second] = fleet.nodes.map(({ limiter }) => limiter)
    const early = first.take('key', 3)
    await fleet.pass(2 + random.whole(20))
    second.take('key', 400)
    await fleet.pass(MINUTE_MS + random.whole(1_000))
    second.take('key', 100)
    await fleet.pass(1_000)
    first.take('key', 20)
    await fleet.pass(3_000)
    await first.charge('key', -3, early)
    await fleet.pass(3_000)
    expect(fleet.units('key')).toBe(120)
    await fleet.close()
  })
})
