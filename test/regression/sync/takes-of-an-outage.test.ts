import { expect, test } from '@jest/globals'
import { SyncedFleet, seededRandom } from '@sluice/testkit'

test.each(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] as const)(
  'a client at two thirds of its limit of %s is not denied after an outage, however long it was',
  async (algorithm) => {
    const random = seededRandom(3)
    const policy = { name: 'api', limit: 600, window: '1m', algorithm } as const
    const fleet = new SyncedFleet({ nodes: 10, policy, random, network: { delayMs: 5 } })
    let denied = 0
    for (let ms = 0; ms < 400_000; ms += 150) {
      fleet.isCut = ms >= 20_000 && ms < 300_000
      const { allowed } = random.pick(fleet.nodes).limiter.take('k')
      // during an outage a process admits its local share only
      if (!allowed && ms >= 302_000) denied++
      await fleet.pass(150)
    }
    expect(denied).toBe(0)
    await fleet.close()
  },
)

test('pending usage of one key does not grow with the outage', async () => {
  const policy = { name: 'api', limit: 1_000, window: '4s' } as const
  const fleet = new SyncedFleet({ nodes: 1, policy, random: seededRandom(1), network: { delayMs: 5 } })
  let most = 0
  const exchange = fleet.ledger.exchange.bind(fleet.ledger)
  fleet.ledger.exchange = (writer, batch) => {
    for (const { takes } of batch.takes) most = Math.max(most, takes.length)
    return exchange(writer, batch)
  }
  fleet.isCut = true
  for (let ms = 0; ms < 300_000; ms += 100) {
    fleet.nodes[0].limiter.take('k')
    await fleet.pass(100)
  }
  fleet.isCut = false
  await fleet.pass(5_000)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(130)
  await fleet.close()
})
