import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { WindowedCounter } from '@sluice/counters'
import { baseSeed } from '@sluice/testkit'
import fc from 'fast-check'
import { codeOf } from '../../code-of.ts'

const seeded = { seed: baseSeed() }
const [WINDOW, GRAIN] = [10_000, 1_000]
const options = { windowMs: WINDOW, grainMs: GRAIN }

type Event = readonly [delta: number, now: number]

/** A slow and obviously correct model: a list of all events. A late event is dropped when it arrives. */
class Model {
  readonly #kept: Event[] = []
  #newest = Number.NEGATIVE_INFINITY

  increment(delta: number, now: number): boolean {
    const bucket = Math.floor(now / GRAIN)
    if (bucket <= this.#newest - WINDOW / GRAIN) return false
    this.#newest = Math.max(this.#newest, bucket)
    this.#kept.push([delta, bucket])
    return true
  }

  sum(now: number): number {
    const last = Math.floor(now / GRAIN)
    const first = Math.max(last, this.#newest) - WINDOW / GRAIN + 1
    const inWindow = this.#kept.filter(([, bucket]) => bucket >= first && bucket <= last)
    return inWindow.reduce((sum, [delta]) => sum + delta, 0)
  }
}

const event: fc.Arbitrary<Event> = fc.tuple(
  fc.integer({ min: -50, max: 50 }),
  fc.integer({ min: -30_000, max: 30_000 }),
)
const events = fc.array(event, { maxLength: 50 })

function fed(list: readonly Event[]): WindowedCounter {
  const counter = new WindowedCounter(options)
  for (const [delta, now] of list) counter.increment(delta, now)
  return counter
}

describe('a WindowedCounter', () => {
  test('sums the last window', () => {
    const counter = new WindowedCounter(options)
    for (let now = 0; now < 20_000; now += 500) counter.increment(1, now)
    expect([counter.sum(19_999), counter.sum(20_000), counter.sum(28_999), counter.sum(29_000)]).toEqual([20, 18, 2, 0])
  })

  test('counts a late increment at its time, and drops increments older than the window', () => {
    const counter = new WindowedCounter(options)
    expect(counter.increment(1, 19_500)).toBe(true)
    expect(counter.increment(10, 10_000)).toBe(true)
    expect(counter.increment(100, 9_999)).toBe(false)
    expect([counter.sum(19_999), counter.sum(20_000)]).toEqual([11, 1])
  })

  test('answers like a list of all events, in any order', () => {
    fc.assert(
      fc.property(events, fc.array(fc.integer({ min: -40_000, max: 40_000 })), (list, asked) => {
        const [counter, model] = [new WindowedCounter(options), new Model()]
        for (const [delta, now] of list) expect(counter.increment(delta, now)).toBe(model.increment(delta, now))
        for (const now of asked) expect(counter.sum(now)).toBe(model.sum(now))
      }),
      seeded,
    )
  })

  test('merges bucket by bucket: the sums equal one counter of all events, in any order', () => {
    fc.assert(
      fc.property(events, events, events, (a, b, c) => {
        const [left, right] = [fed(a), fed(b)]
        left.merge(fed(b))
        left.merge(fed(c))
        right.merge(fed(c))
        right.merge(fed(a))
        // a counter that receives the events in time order drops none
        const inOrder = fed([...a, ...b, ...c].sort(([, one], [, other]) => one - other))
        for (let now = -31_000; now < 41_000; now += 997) {
          expect([left.sum(now), right.sum(now)]).toEqual([inOrder.sum(now), inOrder.sum(now)])
        }
      }),
      seeded,
    )
  })

  test('is restored from its bytes', () => {
    fc.assert(
      fc.property(events, event, (list, [delta, now]) => {
        const counter = fed(list)
        const read = WindowedCounter.fromBytes(counter.toBytes())
        expect(read.toBytes()).toEqual(counter.toBytes())
        expect(read.increment(delta, now)).toBe(counter.increment(delta, now))
        expect(read.sum(now)).toBe(counter.sum(now))
      }),
      seeded,
    )
  })

  test('rejects all other bytes with an error code', () => {
    const honest = fed([
      [1, 1_000],
      [2, 2_000],
    ]).toBytes()
    const changed = (at: number, float: number): Uint8Array => {
      const bytes = honest.slice()
      new DataView(bytes.buffer).setFloat64(at, float, true)
      return bytes
    }
    const hostile: readonly unknown[] = [
      ...[undefined, null, 'text', [], new ArrayBuffer(40), new Uint8Array(0), new Uint8Array(600)],
      ...[honest.subarray(0, 31), honest.subarray(0, -1), new Uint8Array([...honest, 0]), honest.map((byte) => ~byte)],
      ...[0, -1, Number.NaN, 2 ** 60].flatMap((float) => [changed(8, float), changed(16, float)]),
      ...[1e-300, 1e300, 500.5].flatMap((float) => [changed(8, float), changed(16, float)]),
      ...[0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((float) => changed(24, float)),
      ...[0.5, Number.NaN, 2 ** 53, Number.MAX_SAFE_INTEGER].map((float) => changed(32, float)),
    ]
    for (const bytes of hostile)
      expect(codeOf(() => WindowedCounter.fromBytes(bytes as Uint8Array))).toBe('SLUICE_BAD_MESSAGE')
  })

  test('rejects bad input with an error code, and counts nothing', () => {
    const counter = new WindowedCounter(options)
    for (const delta of [0.5, Number.NaN, 2 ** 53, '1']) {
      expect(codeOf(() => counter.increment(delta as number, 0))).toBe('SLUICE_BAD_DELTA')
    }
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, '0', undefined]) {
      expect(codeOf(() => counter.increment(1, now as number))).toBe('SLUICE_BAD_OPTION')
      expect(codeOf(() => counter.sum(now as number))).toBe('SLUICE_BAD_OPTION')
    }
    const most = Math.floor(Number.MAX_SAFE_INTEGER / 10)
    expect(codeOf(() => counter.increment(most + 1, 0))).toBe('SLUICE_COUNTER_RANGE')
    for (let now = 0; now < WINDOW; now += GRAIN) counter.increment(most, now)
    expect(codeOf(() => counter.merge(fed([[1, 5_000]])))).toBe('SLUICE_COUNTER_RANGE')
    expect(counter.sum(9_999)).toBe(10 * most)
  })

  test('rejects windows that are not a multiple of a grain, and merges of incompatible counters', () => {
    const bad: readonly (readonly [object, string])[] = [
      [{ windowMs: 10_000, grainMs: 3_000 }, 'SLUICE_BAD_OPTION'],
      [{ windowMs: 1_000, grainMs: 2_000 }, 'SLUICE_BAD_OPTION'],
      [{ windowMs: '3h', grainMs: '1s' }, 'SLUICE_BAD_OPTION'],
      [{ windowMs: 1, grainMs: 0.5 }, 'SLUICE_BAD_OPTION'],
      [{ windowMs: 0 }, 'SLUICE_BAD_OPTION'],
      [{ windowMs: 1_000, grainMs: 0 }, 'SLUICE_BAD_OPTION'],
      [{ windowMs: 'soon' }, 'SLUICE_BAD_DURATION'],
      [{ window: '1m' }, 'SLUICE_BAD_OPTION'],
    ]
    for (const [given, code] of bad) expect([given, codeOf(() => new WindowedCounter(given))]).toEqual([given, code])
    const counter = fed([[1, 0]])
    for (const other of [new WindowedCounter({ windowMs: WINDOW, grainMs: 500 }), {}, null]) {
      expect(codeOf(() => counter.merge(other as WindowedCounter))).toBe('SLUICE_BAD_MESSAGE')
    }
    expect(counter.sum(0)).toBe(1)
  })

  test('takes 0.6 KB with 60 buckets, as bytes, and about as much in memory', () => {
    const counter = new WindowedCounter({ windowMs: '1m' })
    expect(counter.toBytes().length).toBe(32 + 60 * 8)
    expect(counter.toBytes().length).toBeLessThanOrEqual(600)
    const made = 20_000
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
    const before = process.memoryUsage()
    const counters = Array.from({ length: made }, (_, n) => {
      const one = new WindowedCounter({ windowMs: 60_000, grainMs: 1_000 })
      one.increment(1, n)
      return one
    })
    collect()
    const after = process.memoryUsage()
    const each = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / made
    process.stdout.write(`a WindowedCounter of 60 buckets: ${Math.round(each)} bytes in memory\n`)
    expect(counters[made - 1].sum(made)).toBe(1)
    // the buckets, and the overhead of an engine for an object and its array
    expect(each).toBeLessThan(1_000)
  })
})
