import { expect, test } from '@jest/globals'
import { SyncedFleet, seededRandom } from '@sluice/testkit'

const policy = { name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' } as const

test('a ledger that lost its data receives the known usage, even if the answer that reported the loss was lost', async () => {
  const network = { delayMs: 5 }
  const fleet = new SyncedFleet({ nodes: 1, policy, random: seededRandom(1), network, sync: { floor: 0 } })
  const { ledger } = fleet
  const [{ limiter }] = fleet.nodes
  limiter.take('a', 100)
  await fleet.pass(5_000)
  ledger.loseData()
  limiter.take('a', 1)
  const exchange = ledger.exchange.bind(ledger)
  ledger.exchange = (...sent) => {
    fleet.isCut = true
    ledger.exchange = exchange
    return exchange(...sent)
  }
  await fleet.pass(100)
  expect(fleet.isCut).toBe(true)
  fleet.isCut = false
  await fleet.pass(5_000)
  expect(fleet.used('a')).toBe(101)
  limiter.take('a', 1)
  await fleet.pass(5_000)
  expect(fleet.used('a')).toBe(102)
  await fleet.close()
})
