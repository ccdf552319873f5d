import { describe, expect, test } from '@jest/globals'
import type { PolicyInput } from '@sluice/limiter-core'
import { eachSeed, SyncedFleet } from '@sluice/testkit'

const policies: readonly PolicyInput[] = [
  { name: 'api', limit: 5_000, window: '1h', algorithm: 'fixed-window' },
  { name: 'api', limit: 5_000, window: '1h', algorithm: 'sliding-window' },
  { name: 'api', limit: 5_000, window: '1h', algorithm: 'sliding-window', slices: 6 },
]

describe.each(policies)('the ledger of $algorithm', (policy) => {
  test.each([
    { loss: 0, doubles: 0 },
    { loss: 0.05, doubles: 0.05 },
    { loss: 0.3, doubles: 0.3 },
  ])('counts every unit once, however messages are lost or duplicated: %j', async (bad) => {
    await eachSeed(3, async (random) => {
      const fleet = new SyncedFleet({ nodes: 5, policy, random, network: { delayMs: 5, ...bad }, sync: { floor: 0 } })
      let admitted = 0
      for (let request = 0; request < 2_000; request++) {
        if (fleet.nodes[random.whole(5)].limiter.take(`key ${random.whole(3)}`).allowed) admitted++
        if (random.whole(4) === 0) await fleet.pass(random.whole(100))
      }
      await fleet.pass(20_000)
      let used = 0
      for (let key = 0; key < 3; key++) used += fleet.used(`key ${key}`)
      expect(used).toBe(admitted)
      await fleet.close()
    })
  })
})

test('receives refunds, which lift no key above its limit', async () => {
  await eachSeed(1, async (random) => {
    const policy = policies[0]
    const fleet = new SyncedFleet({ nodes: 2, policy, random, network: { delayMs: 5 }, sync: { floor: 0 } })
    const { limiter } = fleet.nodes[0]
    const taken = limiter.take('a', 10)
    await fleet.pass(3_000)
    limiter.charge('a', -4, taken)
    await fleet.pass(3_000)
    expect(fleet.used('a')).toBe(6)
    limiter.charge('a', -100, taken)
    await fleet.pass(3_000)
    expect(fleet.used('a')).toBe(0)
    await fleet.close()
  })
})

test('resets a key in the whole fleet within two ticks', async () => {
  await eachSeed(1, async (random) => {
    const policy = { name: 'api', limit: 100, window: '1h', algorithm: 'fixed-window' } as const
    const fleet = new SyncedFleet({ nodes: 3, policy, random, network: { delayMs: 5 } })
    const [one, two, three] = fleet.nodes
    for (let request = 0; request < 120; request++) {
      one.limiter.take('a')
      await fleet.pass(20)
    }
    await fleet.pass(2_500)
    // each process receives the counts of the others with its next exchange
    for (const { limiter } of [two, three]) limiter.take('a', 0)
    for (const { limiter } of [two, three]) limiter.take('a')
    await fleet.pass(1_000)
    expect([one, two, three].map(({ limiter }) => limiter.take('a').allowed)).toEqual([false, false, false])
    const reset = Promise.resolve(one.limiter.reset('a'))
    await fleet.pass(50)
    await reset
    await fleet.pass(2_200)
    for (const { limiter } of [two, three]) limiter.take('a')
    await fleet.pass(100)
    expect([one, two, three].map(({ limiter }) => limiter.take('a').allowed)).toEqual([true, true, true])
    await fleet.close()
  })
})
