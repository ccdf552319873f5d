import { expect, test } from '@jest/globals'
import { CountMin, HyperLogLog, SketchSeed, SpaceSaving, TDigest } from '@sluice/sketches'
import { type SharedSketch, type ShareSketchOptions, shareSketch } from '@sluice/sketches/fleet'
import { eachSeed, FakeClock, type SeededRandom, Warnings } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'
import { codeOf } from '../contract/sketch-contract.ts'
import { Hub } from './hub.ts'

const seed = new SketchSeed('sixteen bytes, and more')
const counts = {
  topic: 'counts',
  make: () => new CountMin({ width: 64, depth: 3, seed }),
  read: (bytes: Uint8Array) => CountMin.fromBytes(bytes, { seed }),
}

const opened = endedAfterEach<SharedSketch<CountMin>>((shared) => shared.close())

/** Processes that share counts, with one clock and the events of their observers. */
function fleet(size: number, options: Partial<ShareSketchOptions<CountMin>> = {}) {
  const hub = new Hub()
  const clock = new FakeClock()
  const reported: unknown[] = []
  const observers = [{ event: (name: string, data: object) => void reported.push({ name, ...data }) }]
  const members = Array.from({ length: size }, () =>
    shareSketch(hub.join(), { ...counts, clock, observers, ...options }),
  )
  opened.push(...members)
  const exchange = async (): Promise<void> => {
    for (const member of members) await member.flush()
    await hub.settled()
  }
  return { hub, clock, reported, members, exchange }
}

function fed(keys: readonly string[]): CountMin {
  const sketch = counts.make()
  for (const key of keys) sketch.add(key)
  return sketch
}

test('all processes have the counts of all processes, each count once', () =>
  eachSeed(10, async (random: SeededRandom) => {
    const { members, exchange } = fleet(3)
    const keys: string[] = []
    for (let round = 0; round < 5; round++) {
      for (let count = random.whole(30); count > 0; count--) {
        const key = `key ${random.whole(40)}`
        keys.push(key)
        members[random.whole(3)].own.add(key)
      }
      await exchange()
      for (const member of members) expect(member.fleet.toBytes()).toEqual(fed(keys).toBytes())
    }
  }))

test('sends with each tick of the clock, and only if there are new counts', async () => {
  const { hub, clock, members } = fleet(2)
  const sent: number[] = []
  hub.join().subscribe('counts', (bytes) => void sent.push(bytes.length))
  for (let tick = 0; tick < 3; tick++) {
    if (tick < 2) members[0].own.add('red')
    clock.advance(1_000)
    await members[0].flush()
    await hub.settled()
  }
  expect([members[1].fleet.estimate('red'), sent.length]).toEqual([2, 2])
  // 64 x 3 cells, nearly all of them 0
  expect(Math.max(...sent)).toBeLessThan(100)
})

test('starts empty with each window, and keeps the previous window', async () => {
  const { clock, members, exchange } = fleet(2, { window: '1m' })
  const seen = (): number[][] =>
    members.map(({ fleet: now, previous }) => [now.estimate('red'), previous.estimate('red')])
  members[0].own.add('red')
  await exchange()
  expect(seen()).toEqual([
    [1, 0],
    [1, 0],
  ])
  members[1].own.add('red', 5)
  clock.advance(60_000)
  // counted before the window was over, sent after it
  await exchange()
  expect(seen()).toEqual([
    [0, 6],
    [0, 6],
  ])
  members[0].own.add('red', 2)
  await exchange()
  expect(seen()).toEqual([
    [2, 6],
    [2, 6],
  ])
  clock.advance(60_000)
  await exchange()
  expect(seen()).toEqual([
    [0, 2],
    [0, 2],
  ])
  clock.advance(180_000)
  await exchange()
  expect(seen()).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test('accepts counts from a clock one window ahead, and reports counts from further ahead', async () => {
  const hub = new Hub()
  const clocks = [0, 60_000, 600_000].map((aheadMs) => new FakeClock({ wallMs: Date.UTC(2026, 0, 1) + aheadMs }))
  const reported: unknown[] = []
  const observers = [{ event: (_: string, data: object) => void reported.push(data) }]
  const members = clocks.map((clock) => shareSketch(hub.join(), { ...counts, clock, observers, window: '1m' }))
  opened.push(...members)
  for (const member of members) {
    member.own.add('red')
    await member.flush()
    await hub.settled()
  }
  expect(members.map((member) => member.fleet.estimate('red'))).toEqual([1, 1, 1])
  expect(reported.filter((data) => 'late' in (data as object))).toHaveLength(4)
  clocks[0].advance(60_000)
  await members[0].flush()
  expect([members[0].fleet.estimate('red'), members[0].previous.estimate('red')]).toEqual([1, 1])
})

test('keeps counting in the current window if the wall clock is set back slightly', async () => {
  const { clock, members, exchange } = fleet(2, { window: '1m' })
  members[0].own.add('red')
  await exchange()
  clock.stepWall(-5_000)
  members[0].own.add('red')
  await exchange()
  expect(members.map((member) => member.fleet.estimate('red'))).toEqual([2, 2])
})

test('keeps counts that the channel rejects, and sends them with the next tick', async () => {
  const { hub, reported, members, exchange } = fleet(2)
  hub.broken = new Error('too large')
  members[0].own.add('red', 3)
  await exchange()
  expect(reported).toEqual([{ name: 'sync', topic: 'counts', unsent: 'Error: too large' }])
  expect(members.map((member) => member.fleet.estimate('red'))).toEqual([0, 0])
  hub.broken = undefined
  members[0].own.add('red')
  await exchange()
  expect(members.map((member) => member.fleet.estimate('red'))).toEqual([4, 4])
})

test('reports unreadable messages to observers, warns about them once, and stays unchanged', async () => {
  const warnings = new Warnings()
  warnings.listen()
  const { hub, reported, members, exchange } = fleet(1)
  members[0].own.add('red')
  await exchange()
  const stranger = new SketchSeed('another secret of the fleet')
  const other = shareSketch(hub.join(), {
    topic: 'counts',
    make: () => new CountMin({ width: 64, depth: 3, seed: stranger }),
    read: (bytes) => CountMin.fromBytes(bytes, { seed: stranger }),
    clock: new FakeClock(),
  })
  other.own.add('red', 100)
  await other.flush()
  const channel = hub.join()
  const bytes = [new Uint8Array(0), new Uint8Array(7), new Uint8Array(8), Buffer.from('12345678 no deflated bytes')]
  for (const message of bytes) void channel.publish('counts', message)
  await hub.settled()
  await other.close()
  const codes = reported.map((data) => (data as { unread?: unknown }).unread)
  expect(codes.sort()).toEqual([...Array(4).fill('SLUICE_BAD_BYTES'), 'SLUICE_SKETCH_MISMATCH'])
  expect(members[0].fleet.estimate('red')).toBe(1)
  expect(warnings.codes.filter((code) => code === 'SLUICE_SKETCH_UNREADABLE')).toHaveLength(1)
  warnings.stop()
})

test('sends the remaining counts when it is closed, and receives no more messages', async () => {
  const { hub, clock, members } = fleet(2)
  members[0].own.add('red')
  await members[0].close()
  await hub.settled()
  members[1].own.add('red')
  await members[1].flush()
  await hub.settled()
  expect(members.map((member) => member.fleet.estimate('red'))).toEqual([1, 2])
  await members[1].close()
  expect(clock.pending).toBe(0)
})

test('shares every kind of sketch', async () => {
  const hub = new Hub()
  const clock = new FakeClock()
  const uniques = [1, 2].map(() =>
    shareSketch(hub.join(), {
      topic: 'uniques',
      clock,
      make: () => new HyperLogLog({ precision: 10, seed }),
      read: (bytes) => HyperLogLog.fromBytes(bytes, { seed }),
    }),
  )
  const talkers = [1, 2].map(() =>
    shareSketch(hub.join(), {
      topic: 'talkers',
      clock,
      make: () => new SpaceSaving({ capacity: 10 }),
      read: (bytes) => SpaceSaving.fromBytes(bytes),
    }),
  )
  const waits = [1, 2].map(() =>
    shareSketch(hub.join(), {
      topic: 'waits',
      clock,
      make: () => new TDigest(),
      read: (bytes) => TDigest.fromBytes(bytes),
    }),
  )
  for (let n = 0; n < 200; n++) {
    uniques[n % 2].own.add(`client ${n % 150}`)
    talkers[n % 2].own.add(n % 4 === 0 ? 'loud' : `quiet ${n}`)
    waits[n % 2].own.add(n)
  }
  for (const shared of [...uniques, ...talkers, ...waits]) await shared.flush()
  await hub.settled()
  for (const shared of uniques) expect(Math.abs(shared.fleet.count() - 150)).toBeLessThan(15)
  for (const shared of talkers) expect(shared.fleet.top(1)[0].key).toBe('loud')
  for (const shared of waits) expect(Math.abs(shared.fleet.quantile(0.99) - 198)).toBeLessThan(2)
  await Promise.all([...uniques, ...talkers, ...waits].map((shared) => shared.close()))
})

test.each([
  ['no options', undefined, 'SLUICE_BAD_OPTION'],
  ['a misspelt option', { ...counts, tick: 5 }, 'SLUICE_BAD_OPTION'],
  ['no make', { ...counts, make: undefined }, 'SLUICE_BAD_OPTION'],
  ['no read', { ...counts, read: 'fromBytes' }, 'SLUICE_BAD_OPTION'],
  [
    'a read function with another seed',
    { ...counts, read: (bytes: Uint8Array) => CountMin.fromBytes(bytes) },
    'SLUICE_SKETCH_MISMATCH',
  ],
  ['a window of 60 for 60 s', { ...counts, window: 60 }, 'SLUICE_BAD_DURATION'],
  ['a tick of 0', { ...counts, tickMs: 0 }, 'SLUICE_BAD_DURATION'],
])('rejects %s', (_, options, code) => {
  expect(codeOf(() => shareSketch(new Hub().join(), options as never))).toBe(code)
})
