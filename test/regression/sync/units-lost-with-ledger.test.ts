import { expect, test } from '@jest/globals'
import { MemorySyncLedger } from '@sluice/fleet/sync'
import { FakeClock, SyncedFleet, seededRandom } from '@sluice/testkit'

const policy = { name: 'api', limit: 1_000, window: '1h', algorithm: 'fixed-window' } as const

function fleetOf(nodes: number): SyncedFleet {
  const network = { delayMs: 5 }
  return new SyncedFleet({ nodes, policy, random: seededRandom(1), network, sync: { floor: 0 } })
}

test('units counted by the new ledger are not also reported as lost if others reported before', async () => {
  const fleet = fleetOf(2)
  const [one, other] = fleet.nodes
  one.limiter.take('a', 100)
  await fleet.pass(3_000)
  other.limiter.take('a', 1)
  await fleet.pass(3_000)
  fleet.ledger.loseData()
  other.limiter.take('a', 1)
  await fleet.pass(3_000)
  one.limiter.take('a', 5)
  await fleet.pass(3_000)
  expect(fleet.used('a')).toBe(107)
  await fleet.close()
})

test('usage received since the loss is not reported when another partition detects it', async () => {
  const fleet = fleetOf(1)
  const [{ limiter }] = fleet.nodes
  const keys = Array.from({ length: 20 }, (_, key) => `key ${key}`)
  for (const key of keys) limiter.take(key, 100)
  await fleet.pass(3_000)
  fleet.ledger.loseData()
  for (const key of keys) {
    limiter.take(key, 1)
    await fleet.pass(300)
  }
  for (const key of keys) limiter.take(key, 1)
  await fleet.pass(3_000)
  expect(keys.map((key) => fleet.used(key))).toEqual(keys.map(() => 102))
  await fleet.close()
})

test('a late copy of a batch that was counted before the loss neither counts nor hides the loss', () => {
  const ledger = new MemorySyncLedger(new FakeClock())
  const send = (number: number, afterLoss = false): boolean =>
    ledger.exchange('writer', { partition: 0, number, takes: [], afterLoss }).lost
  expect([send(1), send(2)]).toEqual([false, false])
  ledger.loseData()
  expect([send(2), send(3), send(3)]).toEqual([true, true, true])
  expect([send(4, true), send(4, true), send(5)]).toEqual([false, false, false])
})
