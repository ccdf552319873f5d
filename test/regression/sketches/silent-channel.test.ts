import { expect, test } from '@jest/globals'
import type { Channel } from '@sluice/limiter-core'
import { HyperLogLog } from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'
import { FakeClock, until } from '@sluice/testkit'

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
  shared.own.add('visitor 0')
  clock.advance(1_000)
  // a message is compressed on another thread
  await until(() => settle.length === 1, { what: 'the first message' })
  shared.own.add('visitor 1')
  // the wait for the first message ends after some seconds
  await until(
    () => {
      clock.advance(1_000)
      return settle.length === 2
    },
    { what: 'the second message' },
  )
  expect(shared.fleet.count()).toBe(0)
  for (const one of settle) one()
  await until(() => shared.fleet.count() >= 2, { what: 'both counts' })
  const closed = shared.close()
  let isClosed = false
  void closed.then(() => {
    isClosed = true
  })
  await until(
    () => {
      clock.advance(1_000)
      return isClosed
    },
    { what: 'the end of close' },
  )
  expect(clock.pending).toBe(0)
})
