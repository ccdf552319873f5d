import { describe, expect, test } from '@jest/globals'
import { eachSeed, SyncedFleet } from '@sluice/testkit'

const NODES = 20

describe.each([100, 600, 6_000])('a client that stays below its limit of %d', (limit) => {
  test.each(['sticky', 'spread'])('and uses half of it, a quarter within 100 ms, is never denied: %s', async (way) => {
    await eachSeed(3, async (random) => {
      const policy = { name: 'api', limit, window: '1m', algorithm: 'sliding-window' } as const
      const fleet = new SyncedFleet({ nodes: NODES, policy, random, network: { delayMs: 1 } })
      let denied = 0
      for (let minute = 0; minute < 3; minute++) {
        const home = fleet.nodes[random.whole(NODES)]
        const take = (): void => {
          const { limiter } = way === 'sticky' ? home : fleet.nodes[random.whole(NODES)]
          if (!limiter.take('k').allowed) denied++
        }
        const burst = limit / 4
        for (let ms = 0; ms < 100; ms++) {
          for (let taken = Math.floor((burst * ms) / 100); taken < Math.floor((burst * (ms + 1)) / 100); taken++) take()
          await fleet.pass(1)
        }
        for (let taken = 0; taken < burst; taken++) {
          take()
          await fleet.pass(50_000 / burst)
        }
        await fleet.pass(9_900)
      }
      expect(denied).toBe(0)
      await fleet.close()
    })
  })
})
