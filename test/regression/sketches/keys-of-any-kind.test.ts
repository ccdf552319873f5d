import { describe, expect, test } from '@jest/globals'
import {
  BlockedBloomFilter,
  BloomFilter,
  CountingBloomFilter,
  CountMin,
  Estimator,
  HeavyKeeper,
  Hokusai,
  HokusaiItem,
  HokusaiTime,
  HyperLogLog,
  Inflight,
  Rate,
  RedisBloomCountMin,
  RedisHyperLogLog,
  SpaceSaving,
  TDigest,
} from '@sluice/sketches'
import { codeOf } from '../../sketches/contract/sketch-contract.ts'

const seed = 'a seed of sixteen bytes, and more'
const timed = { width: 64, depth: 4, unitMs: 10, retainMs: 100, seed }

function throws(): never {
  throw new Error('looked at')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** A view whose memory was transferred to another thread. */
function gone<V extends ArrayBufferView>(view: V): V {
  structuredClone(view.buffer, { transfer: [view.buffer as ArrayBuffer] })
  return view
}

const strange: readonly (readonly [string, unknown])[] = [
  ['an object whose toString throws', { toString: throws }],
  ['an object without toString', Object.create(null)],
  ['an object whose toString returns an object', { toString: () => ({}) }],
  ['a revoked proxy', revoked()],
  ['a symbol', Symbol('key')],
  ['a bigint', 2n ** 70n],
  ['a function', throws],
  ['nothing', undefined],
  ['null', null],
  ['NaN', Number.NaN],
  ['-0', -0],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['a number beyond 2^53', 2 ** 60],
  ['a lone surrogate', '\ud800'],
  ['a megabyte', 'a'.repeat(2 ** 20)],
  ['a megabyte of wide characters', 'ж'.repeat(2 ** 20)],
  ['a megabyte of bytes', new Uint8Array(2 ** 20)],
  ['bytes shared by threads', new Uint8Array(new SharedArrayBuffer(2_000))],
  ['bytes with detached memory', gone(new Uint8Array(8))],
  ['a DataView', new DataView(new ArrayBuffer(8))],
  ['a DataView with detached memory', gone(new DataView(new ArrayBuffer(8)))],
  ['a Uint16Array', Uint16Array.of(1, 500)],
  ['a Float64Array', Float64Array.of(Number.NaN, 1)],
  ['a BigUint64Array', BigUint64Array.of(1n, 2n ** 63n)],
  ['an ArrayBuffer', new ArrayBuffer(8)],
]

/** Counts a key and returns its count, or 1 for sketches that only test membership. */
const subjects: readonly (readonly [string, () => (key: never) => number | boolean | undefined])[] = [
  ['CountMin', () => counting(new CountMin({ width: 64, depth: 4, seed }))],
  ['CountMin with an unusual shape', () => counting(new CountMin({ width: 60, depth: 5, conservative: true, seed }))],
  ['RedisBloomCountMin', () => counting(new RedisBloomCountMin({ width: 64, depth: 4 }))],
  ['SpaceSaving', () => counting(new SpaceSaving({ capacity: 4 }))],
  ['HeavyKeeper', () => counting(new HeavyKeeper({ k: 4, seed }))],
  [
    'Estimator',
    () =>
      inTwo(
        new Estimator({ seed }),
        (of, key) => void of.incr(key),
        (of, key) => of.get(key),
      ),
  ],
  [
    'Inflight',
    () =>
      inTwo(
        new Inflight({ seed }),
        (of, key) => void of.incr(key),
        (of, key) => of.get(key),
      ),
  ],
  ['Rate', () => (key) => new Rate({ intervalMs: 1_000, clock: { now: () => 0 }, seed }).observe(key)],
  [
    'HyperLogLog',
    () =>
      inTwo(
        new HyperLogLog({ seed }),
        (of, key) => void of.add(key),
        (of) => of.count(),
      ),
  ],
  [
    'RedisHyperLogLog',
    () =>
      inTwo(
        new RedisHyperLogLog(),
        (of, key) => void of.add(key),
        (of) => of.count(),
      ),
  ],
  ['BloomFilter', () => knowing(new BloomFilter({ capacity: 100, seed }))],
  ['BlockedBloomFilter', () => knowing(new BlockedBloomFilter({ capacity: 100, seed }))],
  ['CountingBloomFilter', () => knowing(new CountingBloomFilter({ capacity: 100, seed }))],
  [
    'HokusaiTime',
    () =>
      inTwo(
        new HokusaiTime(timed),
        (of, key) => of.add(key, 1, 5),
        (of, key) => of.unit(key, 0),
      ),
  ],
  [
    'HokusaiItem',
    () =>
      inTwo(
        new HokusaiItem(timed),
        (of, key) => of.add(key, 1, 5),
        (of, key) => of.unit(key, 0),
      ),
  ],
  [
    'Hokusai',
    () =>
      inTwo(
        new Hokusai(timed),
        (of, key) => of.add(key, 1, 5),
        (of, key) => of.unit(key, 0),
      ),
  ],
]

function inTwo<S, A>(sketch: S, add: (sketch: S, key: never) => void, ask: (sketch: S, key: never) => A) {
  return (key: never): A => {
    add(sketch, key)
    return ask(sketch, key)
  }
}

function counting<S extends { add(key: never): unknown; estimate(key: never): number }>(sketch: S) {
  return inTwo(
    sketch,
    (of, key) => void of.add(key),
    (of, key) => of.estimate(key),
  )
}

function knowing<S extends { add(key: never): unknown; has(key: never): boolean }>(sketch: S) {
  return inTwo(
    sketch,
    (of, key) => void of.add(key),
    (of, key) => of.has(key),
  )
}

describe.each(subjects)('%s', (_, make) => {
  test.each(strange)('counts %s, and finds it again', (_what, key) => {
    expect(Number(make()(key as never))).toBe(1)
  })
})

test('every view is the key of its bytes', () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, at) => 7 * at)
  const { buffer } = bytes
  const views = [bytes, new DataView(buffer), new Uint16Array(buffer), new BigUint64Array(buffer)]
  const counts = [new CountMin({ width: 64, depth: 4, seed }), new RedisBloomCountMin({ width: 64, depth: 4 })]
  const uniques = [new HyperLogLog({ seed }), new RedisHyperLogLog()]
  for (const view of views) for (const sketch of [...counts, ...uniques]) sketch.add(view as never)
  expect(counts.map((sketch) => sketch.estimate(bytes))).toEqual([4, 4])
  expect(uniques.map((sketch) => sketch.count())).toEqual([1, 1])
})

test('two DataViews are two keys', () => {
  const sketch = new CountMin({ width: 2 ** 16, depth: 4, seed })
  sketch.add(new DataView(Uint8Array.of(1, 2, 3).buffer) as never)
  expect(sketch.estimate(new DataView(Uint8Array.of(1, 2, 4).buffer) as never)).toBe(0)
})

const noTimes = [
  Symbol('time'),
  5n,
  Object.create(null),
  { valueOf: throws },
  revoked(),
  '5',
  undefined,
  gone(new DataView(new ArrayBuffer(1))),
]

test('for a Rate a time that is not a number is the first instant of its interval', () => {
  const rate = new Rate({ intervalMs: 10, clock: { now: () => 5 }, seed })
  for (const [at, none] of noTimes.entries()) {
    expect(rate.observe('red', 1, none as never)).toBe(at + 1)
    expect(rate.rate('red', none as never)).toBe(0)
  }
})

test('an invalid time, amount or window has an error code, whatever it is, and changes nothing', () => {
  for (const make of [() => new HokusaiTime(timed), () => new HokusaiItem(timed), () => new Hokusai(timed)]) {
    const sketch = make()
    sketch.add('red', 2, 35)
    const before = sketch.toBytes()
    for (const none of noTimes) {
      expect(codeOf(() => sketch.add('red', 1, none as never))).toBe('SLUICE_BAD_AMOUNT')
      expect(codeOf(() => sketch.advance(none as never))).toBe('SLUICE_BAD_AMOUNT')
      // unless it is omitted
      if (none !== undefined) expect(codeOf(() => sketch.add('red', none as never, 35))).toBe('SLUICE_BAD_AMOUNT')
      expect(codeOf(() => sketch.unit('red', none as never))).toBe('SLUICE_BAD_AMOUNT')
    }
    expect(sketch.toBytes()).toEqual(before)
  }
  const windows = new HokusaiTime(timed)
  windows.aim('red')
  for (const none of noTimes) {
    expect(codeOf(() => windows.aimedWindow(none as never, 5))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => windows.aimedWaitMs(1, none as never, 5))).toBe('SLUICE_BAD_AMOUNT')
  }
})

test('an invalid amount has an error code, whatever it is', () => {
  for (const none of noTimes) {
    if (none === undefined) continue
    for (const add of [
      () => new CountMin({ width: 4, depth: 2, seed }).add('red', none as never),
      () => new Estimator({ seed }).incr('red', none as never),
      () => new SpaceSaving({ capacity: 2 }).add('red', none as never),
      () => new SpaceSaving({ capacity: 2 }).top(none as never),
      () => new TDigest().add(none as never),
      () => new TDigest().quantile(none as never),
    ]) {
      expect(codeOf(add)).toBe('SLUICE_BAD_AMOUNT')
    }
  }
})
