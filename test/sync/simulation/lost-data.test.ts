import { describe, expect, test } from '@jest/globals'
import { eachSeed, SyncedFleet } from '@sluice/testkit'
import { LosingLife } from './data-loss-simulation.ts'

const policy = { name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' } as const

describe('a ledger that lost its data', () => {
  test('receives the count of a key from any process that has it, so that an exhausted key stays exhausted', async () => {
    await eachSeed(3, async (random) => {
      const fleet = new SyncedFleet({ nodes: 3, policy, random, network: { delayMs: 2 } })
      for (let request = 0; request < 1_500; request++) {
        fleet.nodes[random.whole(3)].limiter.take('full')
        await fleet.pass(10)
      }
      await fleet.pass(3_000)
      expect(fleet.used('full')).toBeGreaterThanOrEqual(1_000)
      fleet.ledger.loseData()
      let admitted = 0
      for (let request = 0; request < 1_000; request++) {
        if (fleet.nodes[random.whole(3)].limiter.take('full').allowed) admitted++
        await fleet.pass(10)
      }
      expect(admitted).toBe(0)
      expect(fleet.used('full')).toBeGreaterThanOrEqual(1_000)
      await fleet.close()
    })
  })

  test('receives the count of a key that was already queued when the loss was detected', async () => {
    await eachSeed(5, async (random) => {
      const fleet = new SyncedFleet({ nodes: 1, policy, random, network: { delayMs: 20 } })
      const take = async (key: string, cost: number): Promise<boolean> => {
        const { allowed } = fleet.nodes[0].limiter.take(key, cost)
        await fleet.pass(10)
        return allowed
      }
      // keys of all partitions, several in each
      const full = Array.from({ length: 200 }, (_, index) => `full ${index}`)
      for (let round = 0; round < 5; round++) for (const key of full) await take(key, 250)
      await fleet.pass(5_000)
      fleet.ledger.loseData()
      let admitted = 0
      for (let request = 0; request < 1_000; request++) {
        if (await take(full[random.whole(200)], 1)) admitted++
      }
      expect(admitted).toBe(0)
      await fleet.close()
    })
  })

  test('recovers the count of a key in use, including takes since the loss', async () => {
    await eachSeed(3, async (random) => {
      const fleet = new SyncedFleet({ nodes: 3, policy, random, network: { delayMs: 2 }, sync: { floor: 0 } })
      let admitted = 0
      const take = async (requests: number): Promise<void> => {
        for (let request = 0; request < requests; request++) {
          if (fleet.nodes[random.whole(3)].limiter.take('busy').allowed) admitted++
          await fleet.pass(10)
        }
      }
      await take(300)
      await fleet.pass(3_000)
      expect(fleet.used('busy')).toBe(admitted)
      fleet.ledger.loseData()
      await take(300)
      await fleet.pass(5_000)
      // if several processes report the old count of a key, it counts once
      expect(fleet.used('busy')).toBe(admitted)
      await fleet.close()
    })
  })

  test('has every unit exactly once after each process has reported each key again', async () => {
    await eachSeed(60, async (random) => {
      const life = new LosingLife(random, 0)
      expect({ wrongs: await life.live(), of: life.options }).toEqual({ wrongs: [], of: life.options })
    })
  })

  test('has every unit at least once if answers were lost: units in flight during the loss may count twice', async () => {
    await eachSeed(30, async (random) => {
      const life = new LosingLife(random, 0.1)
      const tooFew = (await life.live()).filter(({ used, admitted }) => used < admitted)
      expect({ tooFew, of: life.options }).toEqual({ tooFew: [], of: life.options })
    })
  })
})
