import { expect, test } from '@jest/globals'
import { SyncedFleet, seededRandom } from '@sluice/testkit'

const policy = { name: 'api', limit: 1_000, window: '1h' } as const

test.each([0, 150, 240, 500, 990])('a backend that closes %d ms after the last answer leaves no timer', async (ms) => {
  const fleet = new SyncedFleet({
    nodes: 1,
    policy,
    random: seededRandom(1),
    network: { delayMs: 5 },
    sync: { floor: 0 },
  })
  const [{ backend, limiter, clock }] = fleet.nodes
  for (let key = 0; key < 20; key++) limiter.take(`key ${key}`)
  fleet.isCut = true
  await fleet.pass(ms)
  let isClosed = false
  let pending = Number.NaN
  void backend.close().then(() => {
    isClosed = true
    pending = clock.pending
  })
  while (!isClosed) await fleet.pass(1)
  expect(pending).toBe(0)
})

test('takes before a backend closes are reported, whatever answers are lost', async () => {
  const network = { delayMs: 5, loss: 0.3 }
  const fleet = new SyncedFleet({ nodes: 8, policy, random: seededRandom(2), network, sync: { floor: 0 } })
  for (const { limiter } of fleet.nodes) limiter.take('k', 10)
  await fleet.close()
  expect(fleet.units('k')).toBe(80)
})

test('a backend that is closed twice reports once what it could not send, including refunds', async () => {
  const fleet = new SyncedFleet({
    nodes: 1,
    policy,
    random: seededRandom(3),
    network: { delayMs: 5 },
    sync: { floor: 0 },
  })
  const [{ backend, limiter }] = fleet.nodes
  const dropped: unknown[] = []
  backend.observe({ event: (name, data) => void (name === 'sync' && 'dropped' in data && dropped.push(data.dropped)) })
  fleet.isCut = true
  limiter.take('a', 10)
  const decision = limiter.take('b', 7)
  await fleet.pass(2_000)
  limiter.charge('b', -7, decision)
  await fleet.close()
  await backend.close()
  expect(dropped).toEqual([24])
})
