import { describe, expect, test } from '@jest/globals'
import type { PolicyInput } from '@sluice/limiter-core'
import { eachSeed, type Network, type SeededRandom, SyncedFleet, type SyncedFleetOptions } from '@sluice/testkit'

const POLICY: PolicyInput = { name: 'api', limit: 6_000, window: '1m', algorithm: 'sliding-window' }
const LONG: PolicyInput = { name: 'api', limit: 6_000, window: '1h', algorithm: 'sliding-window' }
const GOOD: Network = { delayMs: 5 }

function fleetOf(random: SeededRandom, options: Partial<SyncedFleetOptions> = {}): SyncedFleet {
  return new SyncedFleet({ nodes: 5, policy: POLICY, network: GOOD, random, ...options })
}

/** Sends a request every millisecond to a random running node. Returns the number of admitted requests. */
async function drive(fleet: SyncedFleet, random: SeededRandom, ms: number, everyMs = 1): Promise<number> {
  let admitted = 0
  for (let at = 0; at < ms; at += everyMs) {
    const { clock, limiter } = random.pick(fleet.nodes)
    if (!clock.isStopped && limiter.take('k').allowed) admitted++
    await fleet.pass(everyMs)
  }
  return admitted
}

describe('a fleet at ten times its limit', () => {
  test('keeps its limit if 5 % of messages are lost each way, and 5 % are duplicated', async () => {
    await eachSeed(1, async (random) => {
      const fleet = fleetOf(random, { nodes: 20, network: { delayMs: 5, loss: 0.05, doubles: 0.05 } })
      const first = await drive(fleet, random, 60_000)
      expect(first / 6_000).toBeLessThan(1.1)
      const second = await drive(fleet, random, 60_000)
      expect(second / 6_000).toBeGreaterThan(0.95)
      expect(second / 6_000).toBeLessThan(1.1)
      await fleet.close()
    })
  })

  test('keeps its limit if one clock runs 1 % fast and one 1 % slow', async () => {
    await eachSeed(1, async (random) => {
      const fleet = fleetOf(random, { rateOf: (node) => [1.01, 0.99, 1, 1, 1][node] })
      for (let minute = 0; minute < 3; minute++) {
        const part = (await drive(fleet, random, 60_000)) / 6_000
        expect(part).toBeGreaterThan(0.95)
        expect(part).toBeLessThan(1.05)
      }
      await fleet.close()
    })
  })

  test('keeps its limit if one process stalls for 30 s and resumes', async () => {
    await eachSeed(1, async (random) => {
      const fleet = fleetOf(random)
      let admitted = await drive(fleet, random, 15_000)
      fleet.nodes[0].clock.stop()
      admitted += await drive(fleet, random, 30_000)
      fleet.nodes[0].clock.resume()
      admitted += await drive(fleet, random, 15_000)
      expect(admitted / 6_000).toBeGreaterThan(0.95)
      expect(admitted / 6_000).toBeLessThan(1.05)
      await fleet.close()
    })
  })

  test('that also counts denied requests denies everything while the demand lasts, and nothing a window or two later', async () => {
    await eachSeed(1, async (random) => {
      const fleet = fleetOf(random, { sync: { count: 'all' } })
      expect((await drive(fleet, random, 60_000)) / 6_000).toBeLessThan(1.05)
      expect(await drive(fleet, random, 60_000)).toBe(0)
      await fleet.pass(121_000)
      expect(fleet.nodes[0].limiter.take('k').allowed).toBe(true)
      await fleet.close()
    })
  })
})

test('a killed process loses exactly the units it had not reported', async () => {
  await eachSeed(3, async (random) => {
    const fleet = fleetOf(random, { policy: LONG, sync: { floor: 0 } })
    let admitted = await drive(fleet, random, 3_000)
    await fleet.pass(5_000)
    const [{ limiter, clock }] = fleet.nodes
    for (let take = 0; take < 7; take++) if (limiter.take('k').allowed) admitted++
    clock.stop()
    await fleet.pass(10_000)
    expect(fleet.units('k')).toBe(admitted - 7)
    await fleet.pass(60_000)
    expect(fleet.units('k')).toBe(admitted - 7)
  })
})

test('a fleet at ten times its limit that is redeployed, one process a second, admits no more than before', async () => {
  await eachSeed(2, async (random) => {
    const fleet = fleetOf(random, { nodes: 20 })
    await drive(fleet, random, 60_000)
    let admitted = 0
    for (let node = 0; node < 20; node++) {
      fleet.restart(node)
      admitted += await drive(fleet, random, 1_000)
    }
    admitted += await drive(fleet, random, 40_000)
    expect(admitted / 6_000).toBeGreaterThan(0.95)
    expect(admitted / 6_000).toBeLessThan(1.05)
  })
})

describe('a fleet whose ledger is unavailable for 30 s', () => {
  test('admits its limit plus what it took before the failure was detected, and the ledger is exact afterwards', async () => {
    await eachSeed(3, async (random) => {
      const fleet = fleetOf(random, { policy: LONG, sync: { floor: 0 } })
      let admitted = await drive(fleet, random, 1_000)
      fleet.isCut = true
      const unknown = await drive(fleet, random, 3_100)
      const duringCut = unknown + (await drive(fleet, random, 26_900))
      admitted += duringCut
      expect(admitted).toBeLessThanOrEqual(6_000 + unknown)
      expect(admitted).toBeGreaterThan(5_500)
      fleet.isCut = false
      await fleet.pass(10_000)
      expect(fleet.units('k')).toBe(admitted)
      await fleet.close()
    })
  })

  test('allows all under the rule allow, reports it afterwards, and denies none of it later', async () => {
    await eachSeed(1, async (random) => {
      const fleet = fleetOf(random, { policy: LONG, sync: { floor: 0 }, onBackendError: 'allow' })
      let admitted = await drive(fleet, random, 1_000)
      fleet.isCut = true
      admitted += await drive(fleet, random, 30_000)
      fleet.isCut = false
      await fleet.pass(10_000)
      expect(fleet.units('k')).toBe(admitted)
      await fleet.close()
    })
  })

  test('denies all under the rule deny once the ledger counts as silent', async () => {
    await eachSeed(1, async (random) => {
      const fleet = fleetOf(random, { policy: LONG, sync: { floor: 0 }, onBackendError: 'deny' })
      await drive(fleet, random, 1_000)
      fleet.isCut = true
      await drive(fleet, random, 5_000, 10)
      expect(await drive(fleet, random, 10_000, 10)).toBe(0)
      fleet.isCut = false
      await fleet.pass(3_000)
      expect(await drive(fleet, random, 1_000, 10)).toBe(100)
      await fleet.close()
    })
  })
})

describe('a client at 90 % of its limit with 20 % of messages lost each way', () => {
  test.each([600, 6_000])('is never denied: a limit of %d', async (limit) => {
    await eachSeed(2, async (random) => {
      const fleet = fleetOf(random, { policy: { ...POLICY, limit }, network: { delayMs: 5, loss: 0.2 } })
      const everyMs = Math.ceil(60_000 / (limit * 0.9))
      let denied = 0
      for (let ms = 0; ms < 180_000; ms += everyMs) {
        if (!random.pick(fleet.nodes).limiter.take('k').allowed) denied++
        await fleet.pass(everyMs)
      }
      expect(denied).toBe(0)
      await fleet.close()
    })
  })
})
