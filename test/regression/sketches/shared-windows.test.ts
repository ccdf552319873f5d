import { deflateRawSync } from 'node:zlib'
import { afterEach, expect, test } from '@jest/globals'
import type { Channel } from '@sluice/limiter-core'
import { CountMin } from '@sluice/sketches'
import { type SharedSketch, type ShareSketchOptions, shareSketch } from '@sluice/sketches/fleet'
import { FakeClock, Warnings } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'
import { codeOf } from '../../sketches/contract/sketch-contract.ts'
import { Hub } from '../../sketches/fleet/hub.ts'

const seed = 'a seed of sixteen bytes, and more'
const counts = {
  topic: 'counts',
  make: () => new CountMin({ width: 64, depth: 3, seed }),
  read: (bytes: Uint8Array) => CountMin.fromBytes(bytes, { seed }),
}

const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))
const opened = endedAfterEach<SharedSketch<CountMin>>((shared) => shared.close())
afterEach(async () => {
  await new Promise(setImmediate)
  expect(unhandled.splice(0)).toEqual([])
})

/** A channel that accepts or rejects published messages when the test says so. */
class SlowChannel implements Channel {
  slow = true
  readonly #channel: Channel
  #waiting: { take(): void; refuse(error: Error): void }[] = []
  readonly subscribe: Channel['subscribe']

  constructor(channel: Channel) {
    this.#channel = channel
    this.subscribe = (topic, receive) => channel.subscribe(topic, receive)
  }

  publish(topic: string, bytes: Uint8Array): void | Promise<void> {
    if (!this.slow) return this.#channel.publish(topic, bytes)
    return new Promise<void>((resolve, reject) => {
      const take = (): void => resolve(this.#channel.publish(topic, bytes))
      this.#waiting.push({ take, refuse: reject })
    })
  }

  /** Waits until a message is published and pending. */
  async asked(): Promise<void> {
    while (this.#waiting.length === 0) await new Promise(setImmediate)
  }

  take(): void {
    for (const one of this.#waiting.splice(0)) one.take()
  }

  refuse(): void {
    for (const one of this.#waiting.splice(0)) one.refuse(new Error('refused'))
  }

  close(): void {}
}

function member(hub: Hub, clock: FakeClock, options: Partial<ShareSketchOptions<CountMin>> = {}) {
  const told: object[] = []
  const channel = new SlowChannel(hub.join())
  channel.slow = false
  const observers = [{ event: (_: string, data: object) => void told.push(data) }]
  const shared = shareSketch(channel, { ...counts, clock, observers, window: '1m', ...options })
  opened.push(shared)
  return { shared, channel, told }
}

/** Counts of `red` in this window and the previous one. */
const seen = ({ shared }: { shared: SharedSketch<CountMin> }): number[] => [
  shared.fleet.estimate('red'),
  shared.previous.estimate('red'),
]

test('counts stay in their window everywhere, even if the window ends while they are being sent', async () => {
  const [hub, clock] = [new Hub(), new FakeClock()]
  const [slow, other] = [member(hub, clock), member(hub, clock)]
  slow.channel.slow = true
  slow.shared.own.add('red', 3)
  const sent = slow.shared.flush()
  await slow.channel.asked()
  // of the same window, while the first message is in flight
  slow.shared.own.add('red', 4)
  clock.advance(60_000)
  await other.shared.flush()
  const next = slow.shared.flush()
  // of the current window
  slow.shared.own.add('red', 5)
  slow.channel.slow = false
  slow.channel.take()
  await Promise.all([sent, next])
  await slow.shared.flush()
  await hub.settled()
  expect([seen(slow), seen(other)]).toEqual([
    [5, 7],
    [5, 7],
  ])
})

test('new windows start while a channel accepts nothing, and it finally gets the counts of each window', async () => {
  const [hub, clock] = [new Hub(), new FakeClock()]
  const [cut, other] = [member(hub, clock), member(hub, clock)]
  hub.broken = new Error('away')
  for (const amount of [1, 2, 3]) {
    cut.shared.own.add('red', amount)
    await cut.shared.flush()
    clock.advance(60_000)
    await cut.shared.flush()
  }
  cut.shared.own.add('red', 4)
  hub.broken = undefined
  await other.shared.flush()
  await cut.shared.flush()
  await hub.settled()
  // the two previous windows are over for all members
  expect([seen(cut), seen(other)]).toEqual([
    [4, 3],
    [4, 3],
  ])
  expect(cut.told.filter((data) => 'late' in data)).toHaveLength(2)
  expect(other.told).toEqual([])
})

test('a channel that accepts nothing for many windows holds the counts of few of them', async () => {
  const [hub, clock] = [new Hub(), new FakeClock()]
  const { shared, channel, told } = member(hub, clock)
  channel.slow = true
  for (let window = 0; window < 50; window++) {
    shared.own.add('red')
    void shared.flush()
    if (window === 0) await channel.asked()
    clock.advance(60_000)
    void shared.flush()
  }
  // the first is in flight, and the last is kept
  expect(told.filter((data) => 'late' in data)).toHaveLength(48)
  channel.slow = false
  channel.take()
  await shared.flush()
})

test.each([
  ['rejects', (channel: SlowChannel) => channel.refuse()],
  ['takes it', (channel: SlowChannel) => channel.take()],
])('no count is lost or duplicated while a channel %s late', async (_, end) => {
  const [hub, clock] = [new Hub(), new FakeClock()]
  const [slow, other] = [member(hub, clock, { window: undefined }), member(hub, clock, { window: undefined })]
  slow.channel.slow = true
  slow.shared.own.add('red', 3)
  const sent = slow.shared.flush()
  await slow.channel.asked()
  slow.shared.own.add('red', 4)
  const next = slow.shared.flush()
  slow.shared.own.add('red', 5)
  slow.channel.slow = false
  end(slow.channel)
  await Promise.all([sent, next, slow.shared.flush()])
  await slow.shared.flush()
  await hub.settled()
  expect([slow.shared.fleet.estimate('red'), other.shared.fleet.estimate('red')]).toEqual([12, 12])
})

test('closes once, however often close is called, and sends nothing afterwards', async () => {
  const [hub, clock] = [new Hub(), new FakeClock()]
  const [one, other] = [member(hub, clock), member(hub, clock)]
  one.shared.own.add('red', 2)
  const closing = one.shared.close()
  expect(one.shared.close()).toBe(closing)
  one.shared.own.add('red', 40)
  await Promise.all([closing, one.shared.flush()])
  await one.shared.flush()
  await hub.settled()
  expect(seen(other)).toEqual([2, 0])
  expect(clock.pending).toBe(1)
})

test('accepts messages that arrived before it was closed, and none afterwards', async () => {
  const [hub, clock] = [new Hub(), new FakeClock()]
  const [one, other] = [member(hub, clock), member(hub, clock)]
  other.shared.own.add('red', 2)
  await other.shared.flush()
  const closing = one.shared.close()
  other.shared.own.add('red', 3)
  await other.shared.flush()
  await closing
  await hub.settled()
  expect(seen(one)).toEqual([2, 0])
})

test('a read that throws a value other than an error is reported, and ends no process', async () => {
  const warnings = new Warnings()
  warnings.listen()
  const [hub, clock] = [new Hub(), new FakeClock()]
  let thrown: unknown
  let throwing = false
  const read = (bytes: Uint8Array): CountMin => {
    if (throwing) throw thrown
    return counts.read(bytes)
  }
  const [one, other] = [member(hub, clock, { read }), member(hub, clock)]
  throwing = true
  for (const what of [undefined, null, 'text', Symbol('none')]) {
    thrown = what
    other.shared.own.add('red')
    await other.shared.flush()
    await hub.settled()
  }
  throwing = false
  expect(one.told).toEqual(Array(4).fill({ topic: 'counts', unread: 'SLUICE_BAD_BYTES' }))
  expect(seen(one)).toEqual([0, 0])
  warnings.stop()
})

test('a message that decompresses to an impossible size is rejected, one at a time, and other messages are counted', async () => {
  const warnings = new Warnings()
  warnings.listen()
  const [hub, clock] = [new Hub(), new FakeClock()]
  const [one, other] = [member(hub, clock), member(hub, clock)]
  const stranger = hub.join()
  const bomb = Buffer.concat([Buffer.alloc(8), deflateRawSync(Buffer.alloc(80 * 2 ** 20))])
  expect(bomb.length).toBeLessThan(100_000)
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let times = 0; times < 6; times++) void stranger.publish('counts', bomb)
  other.shared.own.add('red')
  await other.shared.flush()
  let settled = false
  const watching = hub.settled().then(() => {
    settled = true
  })
  while (!settled) {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    await new Promise(setImmediate)
  }
  await watching
  expect(seen(one)).toEqual([1, 0])
  expect(one.told.filter((data) => 'unread' in data)).toHaveLength(6)
  // both members hold one message that is being decompressed, and garbage from the last one
  expect(most).toBeLessThan(6 * 64 * 2 ** 20)
  warnings.stop()
})

test('a sketch larger than other members would read is rejected at construction', () => {
  const make = (): CountMin => new CountMin({ width: 2 ** 24, depth: 5, cells: 8, seed })
  expect(codeOf(() => shareSketch(new Hub().join(), { ...counts, make, clock: new FakeClock() }))).toBe(
    'SLUICE_BAD_OPTION',
  )
})
