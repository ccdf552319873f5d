import { describe, expect, test } from '@jest/globals'
import {
  type Counters,
  createCounters,
  MemoryLedger,
  shardedCounters,
  type WindowedCounters,
  windowedCounters,
} from '@sluice/counters'
import { counterContract, eachSeed, FakeClock } from '@sluice/testkit'

const SECOND = 1_000
const tenSeconds = { window: '10s', grain: '1s' } as const

function opened(): { readonly clock: FakeClock; readonly inner: Counters; readonly counters: WindowedCounters } {
  const clock = new FakeClock()
  const inner = createCounters({ clock })
  return { clock, inner, counters: windowedCounters(inner, { ...tenSeconds, clock }) }
}

describe.each([
  ['of an hour', (counters: Counters, clock: FakeClock): Counters => windowedCounters(counters, { clock })],
  [
    'of a day in shards',
    (counters: Counters, clock: FakeClock): Counters =>
      windowedCounters(shardedCounters(counters, { shards: 2 }), { window: '1d', grain: '6h', clock }),
  ],
  [
    'of a day, each of shards',
    (counters: Counters, clock: FakeClock): Counters =>
      shardedCounters(windowedCounters(counters, { window: '1d', grain: '6h', clock }), { shards: 2 }),
  ],
])('windowed counters %s', (_, wrapped) => {
  counterContract(
    { describe, test },
    (clock) => {
      const ledger = new MemoryLedger(clock)
      return { open: () => wrapped(createCounters({ ledger, clock }), clock), close: () => ledger.close() }
    },
    { durable: false },
  )
})

describe('windowed counters', () => {
  test('forget units older than their window bucket by bucket', async () => {
    const { clock, counters } = opened()
    const seen: number[] = []
    for (let second = 0; second < 25; second++) {
      if (second < 12) await counters.increment('a', 10)
      seen.push((await counters.read('a')).value)
      clock.advance(SECOND)
    }
    const rising = Array.from({ length: 10 }, (_, n) => 10 * (n + 1))
    expect(seen).toEqual([...rising, 100, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0, 0, 0, 0])
  })

  test('return exact sums of the window in reads, receipts, lists and aggregates', async () => {
    await eachSeed(3, async (random) => {
      const { clock, counters } = opened()
      const events: { readonly id: string; readonly delta: number; readonly second: number }[] = []
      for (let second = 0; second < 30; second++) {
        for (let n = random.whole(4); n > 0; n--) {
          const [id, delta] = [random.pick(['a', 'ab', 'b', '\0', '\ud800', '\ufffd']), 1 + random.whole(20)]
          events.push({ id, delta, second })
          const { value } = await counters.increment(id, delta)
          expect(value).toBe(sumOf(events, second, (one) => one === id))
        }
        const readings = await counters.readMany('a')
        expect(readings.map(({ id, value }) => [id, value])).toEqual(
          idsOf(events, second, 'a').map((id) => [id, sumOf(events, second, (one) => one === id)]),
        )
        expect(await counters.aggregate('')).toBe(sumOf(events, second, () => true))
        clock.advance(SECOND)
      }
    })
  })

  test('page through their ids in one order, whatever buckets the ids are in', async () => {
    const { clock, counters } = opened()
    const ids = Array.from({ length: 40 }, (_, n) => `id ${String(n).padStart(2, '0')}`)
    for (const isHere of [(n: number) => n % 3 === 0, (n: number) => n % 2 === 0, (n: number) => n % 2 === 1]) {
      await counters.incrementMany(ids.filter((_, n) => isHere(n)).map((id) => [id, 1] as const))
      clock.advance(SECOND)
    }
    const pages: string[] = []
    let after: string | undefined
    do {
      const page = await counters.readMany('id', { limit: 3, after })
      pages.push(...page.map(({ id }) => id))
      after = page.at(-1)?.id
    } while (after !== undefined)
    expect(pages).toEqual(ids)
  })

  test('have versions that increase from bucket to bucket', async () => {
    const { clock, counters } = opened()
    const versions: number[] = []
    for (let second = 0; second < 20; second++) {
      for (let n = 0; n < 3; n++) {
        await counters.increment('a')
        await counters.flush()
        versions.push((await counters.read('a')).version)
      }
      clock.advance(SECOND)
    }
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other))
    expect(versions.every(Number.isSafeInteger)).toBe(true)
  })

  test('count a token once, even if it is repeated in a later bucket', async () => {
    const { clock, counters } = opened()
    const options = { token: 'order-17' }
    await counters.increment('a', 5, options)
    for (let second = 0; second < 9; second++) {
      clock.advance(SECOND)
      expect(await counters.increment('a', 5, options)).toEqual({ value: 5, durable: false, counted: false })
    }
    await expect(counters.increment('a', 6, options)).rejects.toMatchObject({ code: 'SLUICE_TOKEN_REUSED' })
    clock.advance(SECOND)
    await expect(counters.increment('a', 5, options)).rejects.toMatchObject({ code: 'SLUICE_TOKEN_REUSED' })
    expect((await counters.read('a')).value).toBe(0)
  })

  test('reset and delete in all buckets of the window', async () => {
    const { clock, counters } = opened()
    for (let second = 0; second < 5; second++) {
      await counters.incrementMany({ a: 1, b: 1 })
      clock.advance(SECOND)
    }
    await counters.reset('a')
    await counters.delete('b')
    expect(await counters.aggregate('')).toBe(0)
    expect((await counters.readMany('')).map(({ id }) => id)).toEqual(['a'])
  })

  test('remove expired buckets, but nothing of other windows or plain counters', async () => {
    const { clock, inner, counters } = opened()
    const longer = windowedCounters(inner, { window: '1m', grain: '1s', clock })
    await inner.increment('plain', 7)
    for (let second = 0; second < 30; second++) {
      await counters.incrementMany({ a: 1, b: 2 })
      await longer.increment('a')
      clock.advance(SECOND)
    }
    const before = await counters.aggregate('')
    // at second 30: the window begins with 21, and 20 is still kept
    expect(await counters.sweep()).toBe(2 * 20)
    expect(await counters.sweep()).toBe(0)
    expect([before, await counters.aggregate('')]).toEqual([27, 27])
    expect([(await longer.read('a')).value, (await inner.read('plain')).value]).toEqual([30, 7])
    expect((await inner.readMany('')).length).toBe(2 * 10 + 30 + 1)
  })

  test('remove more expired entries than one list page holds', async () => {
    const { clock, inner, counters } = opened()
    await counters.incrementMany(Array.from({ length: 2_500 }, (_, n) => [`id ${n}`, 1] as const))
    clock.advance(12 * SECOND)
    await counters.increment('a')
    expect(await counters.sweep()).toBe(2_500)
    expect((await inner.readMany('')).length).toBe(1)
  })

  test('accept ids of 256 bytes of any text, also combined with shards', async () => {
    const ids = ['\0', '\u0001', '\\', 'é', '\ufffd', '\ud800'].map((char) =>
      char.repeat(256 / Buffer.byteLength(char)),
    )
    const window = { window: '365d', grain: '73d' } as const
    for (const wrapped of [
      windowedCounters(shardedCounters(createCounters()), window),
      shardedCounters(windowedCounters(createCounters(), window)),
    ]) {
      for (const id of ids) await wrapped.increment(id, 7)
      const readings = await Promise.all(ids.map((id) => wrapped.read(id)))
      expect(readings.map(({ value }) => value)).toEqual(ids.map(() => 7))
      expect(new Set((await wrapped.readMany('')).map(({ id }) => id))).toEqual(new Set(ids))
      await expect(wrapped.increment('x'.repeat(257))).rejects.toMatchObject({ code: 'SLUICE_BAD_COUNTER_ID' })
      await wrapped.close()
    }
  })

  test('reject invalid windows with an error code', () => {
    const { inner } = opened()
    const bad: readonly (readonly [object, string])[] = [
      [{ window: '10s', grain: '3s' }, 'SLUICE_BAD_OPTION'],
      [{ window: '1s', grain: '2s' }, 'SLUICE_BAD_OPTION'],
      [{ window: '1d', grain: '1s' }, 'SLUICE_BAD_OPTION'],
      [{ window: 60 }, 'SLUICE_BAD_DURATION'],
      [{ windowMs: 60_000 }, 'SLUICE_BAD_OPTION'],
      [{ clock: 1 }, 'SLUICE_BAD_OPTION'],
    ]
    for (const [options, code] of bad) {
      expect(() => windowedCounters(inner, options)).toThrow(expect.objectContaining({ code }))
    }
  })
})

interface Event {
  readonly id: string
  readonly delta: number
  readonly second: number
}

function sumOf(events: readonly Event[], now: number, isOne: (id: string) => boolean): number {
  const inWindow = events.filter(({ id, second }) => second > now - 10 && isOne(id))
  return inWindow.reduce((sum, { delta }) => sum + delta, 0)
}

function idsOf(events: readonly Event[], now: number, prefix: string): readonly string[] {
  const inWindow = events.filter(({ id, second }) => second > now - 10 && id.startsWith(prefix))
  return [...new Set(inWindow.map(({ id }) => id))].sort()
}
