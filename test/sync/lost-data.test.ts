import { describe, expect, test } from '@jest/globals'
import { eachSeed, SyncedFleet } from '@sluice/testkit'
import { LosingLife } from './losing-life.ts'

const policy = { name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' } as const

describe('a ledger that lost its data', () => {
  test('is told of a key by whoever knows it, and a denied one gains nothing', async () => {
    await eachSeed(3, async (random) => {
      const fleet = new SyncedFleet({ nodes: 3, policy, random, network: { delayMs: 2 } })
      for (let request = 0; request < 1_500; request++) {
        fleet.nodes[random.whole(3)].limiter.take('full')
        await fleet.pass(10)
      }
      await fleet.pass(3_000)
      expect(fleet.used('full')).toBeGreaterThanOrEqual(1_000)
      fleet.ledger.lose()
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

  test('is told of a key whose usage waited already when the loss was found out', async () => {
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
      fleet.ledger.lose()
      let admitted = 0
      for (let request = 0; request < 1_000; request++) {
        if (await take(full[random.whole(200)], 1)) admitted++
      }
      expect(admitted).toBe(0)
      await fleet.close()
    })
  })

  test('has of a key that is in use what it had, and what was taken since', async () => {
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
      fleet.ledger.lose()
      await take(300)
      await fleet.pass(5_000)
      // what several know from before is one count
      expect(fleet.used('busy')).toBe(admitted)
      await fleet.close()
    })
  })

  test('has every unit once, when each process has reported each key again', async () => {
    await eachSeed(60, async (random) => {
      const life = new LosingLife(random, 0)
      expect({ wrongs: await life.live(), of: life.options }).toEqual({ wrongs: [], of: life.options })
    })
  })

  test('has every unit at least, where answers got lost: what was on its way then may count twice', async () => {
    await eachSeed(30, async (random) => {
      const life = new LosingLife(random, 0.1)
      const tooFew = (await life.live()).filter(({ used, admitted }) => used < admitted)
      expect({ tooFew, of: life.options }).toEqual({ tooFew: [], of: life.options })
    })
  })
})
