import { describe, expect, test } from '@jest/globals'
import { createInsight } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { eachSeed, SyncedFleet } from '@sluice/testkit'

const POLICY = { name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' } as const
const KEY = 'acme'

function fleetOf(nodes: number, random: ConstructorParameters<typeof SyncedFleet>[0]['random']) {
  const fleet = new SyncedFleet({ nodes, policy: POLICY, network: { delayMs: 5 }, random })
  const insights = fleet.nodes.map(({ backend, clock }) => {
    const insight = createInsight({ clock })
    const policies = [{ ...POLICY, backend }]
    createLimiter({ policies, clock, scope: 'default', shared: true, observers: [insight] })
    return insight
  })
  const estimates = async () => {
    const all = await Promise.all(insights.map((insight) => insight.explain(KEY)))
    return all.map(({ policies }) => policies[0])
  }
  const close = async (): Promise<void> => {
    await Promise.all(insights.map((insight) => insight.close()))
    await fleet.close()
  }
  return { fleet, estimates, close }
}

describe('the explanation of a key whose counts are synchronised', () => {
  test('contains what its process has not reported, and says so', async () => {
    await eachSeed(1, async (random) => {
      const { fleet, estimates, close } = fleetOf(2, random)
      fleet.nodes[0].limiter.take(KEY, 3)
      const [first, second] = await estimates()
      expect(first).toMatchObject({ used: 3, estimate: { unreported: 3, othersAgeMs: undefined } })
      expect(first.text).toContain('3 of 1,000 requests used (estimated: 3 not reported yet, without other processes)')
      expect(second).toMatchObject({ used: 0, estimate: { unreported: 0 } })
      // more than a process may hold back
      for (const { limiter } of fleet.nodes.toReversed()) {
        limiter.take(KEY, 20)
        await fleet.pass(1_000)
      }
      const [known] = await estimates()
      expect(known).toMatchObject({ used: 43, estimate: { unreported: 0, othersAgeMs: expect.any(Number) } })
      expect(known.text).toMatch(/43 of 1,000 requests used \(estimated: other processes as of [\d.]+ s ago\)/)
      await close()
    })
  })

  test('and the ledger together contain every unit', async () => {
    await eachSeed(3, async (random) => {
      const { fleet, estimates, close } = fleetOf(3, random)
      let taken = 0
      for (let step = 0; step < 60; step++) {
        const units = 1 + random.whole(5)
        const { allowed } = random.pick([...fleet.nodes]).limiter.take(KEY, units)
        if (allowed) taken += units
        await fleet.pass(random.pick([0, 1, 20, 200]))
        const unreported = (await estimates()).reduce((sum, { estimate }) => sum + (estimate?.unreported ?? 0), 0)
        // a report whose reply is on its way is contained in both
        expect(fleet.used(KEY)).toBeLessThanOrEqual(taken)
        expect(fleet.used(KEY) + unreported).toBeGreaterThanOrEqual(taken)
      }
      expect(taken).toBeGreaterThan(100)
      await close()
    })
  })
})
