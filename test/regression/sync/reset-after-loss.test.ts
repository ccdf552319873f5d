import { expect, test } from '@jest/globals'
import { SyncedFleet, seededRandom } from '@sluice/testkit'

const policy = { name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' } as const

test('a process that reports usage after a data loss does not undo a reset', async () => {
  const network = { delayMs: 5 }
  const fleet = new SyncedFleet({ nodes: 1, policy, random: seededRandom(1), network, sync: { floor: 0 } })
  const [{ limiter }] = fleet.nodes
  limiter.take('a', 100)
  await fleet.pass(5_000)
  limiter.take('a', 1)
  await fleet.pass(5_000)
  fleet.ledger.loseData()
  limiter.take('a', 1)
  // the answer reports the data loss; the usage of the key is in flight then, and gets lost
  while (fleet.units('a') === 0) await fleet.pass(1)
  await fleet.pass(6)
  fleet.isCut = true
  await fleet.pass(100)
  fleet.isCut = false
  const reset = Promise.resolve(limiter.reset('a'))
  await fleet.pass(5_000)
  await reset
  expect(fleet.used('a')).toBe(0)
  await fleet.close()
})
