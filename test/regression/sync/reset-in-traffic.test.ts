import { expect, test } from '@jest/globals'
import { SyncedFleet, seededRandom } from '@sluice/testkit'

const policy = { name: 'api', limit: 1_000, window: '1h' } as const

test('a reset is applied within a second, however busy other keys are', async () => {
  const network = { delayMs: 60 }
  const fleet = new SyncedFleet({ nodes: 1, policy, random: seededRandom(1), network, sync: { floor: 0, gapMs: 10 } })
  const [{ limiter }] = fleet.nodes
  let isReset = false
  limiter.take('a', 100)
  await fleet.pass(2_000)
  for (let ms = 0; ms < 3_000; ms++) {
    for (let key = 0; key < 20; key++) limiter.take(`key ${(ms + key) % 200}`, 5)
    if (ms === 1_000)
      void Promise.resolve(limiter.reset('a')).then(() => {
        isReset = true
      })
    await fleet.pass(1)
    if (ms === 2_000) expect(isReset).toBe(true)
  }
  expect(fleet.units('a')).toBe(0)
})

test('a report that was sent before a reset and lost does not count after it', async () => {
  const network = { delayMs: 5 }
  const fleet = new SyncedFleet({ nodes: 1, policy, random: seededRandom(1), network, sync: { floor: 0 } })
  const [{ limiter }] = fleet.nodes
  fleet.isCut = true
  limiter.take('a', 100)
  await fleet.pass(100)
  fleet.isCut = false
  const reset = Promise.resolve(limiter.reset('a'))
  await fleet.pass(2_000)
  await reset
  expect(fleet.units('a')).toBe(0)
})
