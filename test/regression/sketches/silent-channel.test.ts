import { expect, test } from '@jest/globals'
import type { Channel } from '@sluice/limiter-core'
import { HyperLogLog } from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'
import { FakeClock } from '@sluice/testkit'

test('later counts are sent if the channel never settles a message, and the message is counted if it does later', async () => {
  const clock = new FakeClock()
  const settle: (() => void)[] = []
  const channel: Channel = {
    publish: () => new Promise((resolve) => settle.push(resolve)),
    subscribe: () => () => {},
    close: () => {},
  }
  const seed = 'a seed of all processes'
  const shared = shareSketch(channel, {
    topic: 'visitors',
    make: () => new HyperLogLog({ seed }),
    read: (bytes) => HyperLogLog.fromBytes(bytes, { seed }),
    clock,
  })
  for (let n = 0; n < 3; n++) {
    shared.own.add(`visitor ${n}`)
    for (let passed = 0; passed < 6; passed++) {
      clock.advance(1_000)
      await turns()
    }
  }
  expect(settle.length).toBeGreaterThanOrEqual(2)
  expect(shared.fleet.count()).toBe(0)
  for (const one of settle) one()
  await turns()
  expect(shared.fleet.count()).toBeGreaterThanOrEqual(2)
  const closed = shared.close()
  await turns()
  clock.advance(5_000)
  await closed
  expect(clock.pending).toBe(0)
})

async function turns(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
}
