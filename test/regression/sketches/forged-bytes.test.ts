import { describe, expect, test } from '@jest/globals'
import * as sketches from '@sluice/sketches'
import { codeOf } from '../../sketches/contract/sketch-contract.ts'
import { everySketch, fedSketch, SEED, type SketchClass } from '../../sketches/every-sketch.ts'

const { CountMin, CountRange, HokusaiTime, RedisBloomCountMin, SpaceSaving, TDigest } = sketches

function classOf(name: string): SketchClass {
  return everySketch.find((one) => one.name === name) as SketchClass
}

function forged(name: string, change: (view: DataView, bytes: Uint8Array) => void): Uint8Array {
  const bytes = fedSketch(classOf(name), sketches).toBytes()
  change(new DataView(bytes.buffer), bytes)
  return bytes
}

const float = (at: number, value: number) => (view: DataView) => view.setFloat64(at, value, true)
const byte = (at: number, value: number) => (view: DataView) => view.setUint8(at, value)
/** Offset of the n-th count of a Space-Saving sketch with 8 keys. The errors follow the counts. */
const counted = (n: number): number => 64 + 8 * n

function copied(from: number, to: number, bytes: number) {
  return (_: DataView, all: Uint8Array) => void all.copyWithin(to, from, from + bytes)
}

const refused: readonly (readonly [string, string, (view: DataView, bytes: Uint8Array) => void])[] = [
  ['CountMin', 'a total that is NaN', float(32, Number.NaN)],
  ['CountMin', 'an endless total', float(32, Number.POSITIVE_INFINITY)],
  ['CountMin', 'a negative total', float(32, -1)],
  ['CountMin', 'half a count', float(32, 0.5)],
  ['RedisBloomCountMin', 'a total that is NaN', float(32, Number.NaN)],
  ['CountRange', 'a node that is NaN', float(64 + 8, Number.NaN)],
  ['CountRange', 'a negative node', float(64 + 16, -1)],
  ['HyperLogLog', 'a rank above the largest', byte(64, 60)],
  ['SpaceSaving', 'a count that is NaN', float(counted(0), Number.NaN)],
  ['SpaceSaving', 'a negative error', float(counted(8), -1)],
  ['SpaceSaving', 'an error as large as its count', float(counted(8), 2 ** 53)],
  ['SpaceSaving', 'a total that is NaN', float(32, Number.NaN)],
  ['SpaceSaving', 'a negative floor', float(40, -1)],
  ['SpaceSaving', 'a key of a gigabyte', (view) => view.setUint32(counted(16), 2 ** 30, true)],
  ['HeavyKeeper', 'a total that is NaN', float(32, Number.NaN)],
  ['HeavyKeeper', 'a decay of 0', float(40, 0)],
  ['HeavyKeeper', 'half a state', float(48, 0.5)],
  ['HeavyKeeper', '2^31 keys', float(56, 2 ** 31)],
  ['TDigest', 'a mean that is NaN', float(64, Number.NaN)],
  ['TDigest', 'an endless mean', float(64, Number.NEGATIVE_INFINITY)],
  ['TDigest', 'centroids out of order', float(64, 1e9)],
  ...['HokusaiTime', 'HokusaiItem', 'Hokusai'].flatMap((name) =>
    [Number.NaN, 2 ** 53, -1, 0.5, Number.POSITIVE_INFINITY].flatMap(
      (word) =>
        [
          [name, `a running unit of ${word}`, float(32, word)],
          [name, `a first unit of ${word}`, float(40, word)],
        ] as const,
    ),
  ),
  ['HokusaiTime', 'a total that is NaN', float(64, Number.NaN)],
  ['HokusaiItem', 'a negative total', float(64, -1)],
]

test.each(refused)('%s rejects %s', (name, _, change) => {
  const bytes = forged(name, change)
  expect(codeOf(() => classOf(name).read(sketches, bytes))).toBe('SLUICE_BAD_BYTES')
})

test('SpaceSaving rejects a duplicate key', () => {
  const sketch = new SpaceSaving({ capacity: 4 })
  for (const key of ['red', 'sky']) sketch.add(key)
  const bytes = sketch.toBytes()
  copied(bytes.length - 3, bytes.length - 6, 3)(new DataView(bytes.buffer), bytes)
  expect(codeOf(() => SpaceSaving.fromBytes(bytes))).toBe('SLUICE_BAD_BYTES')
})

test('SpaceSaving builds its own heap from counts in any order', () => {
  const sketch = new SpaceSaving({ capacity: 3 })
  for (const [at, key] of ['a', 'b', 'c'].entries()) sketch.add(key, at + 1)
  const bytes = sketch.toBytes()
  const view = new DataView(bytes.buffer)
  // the smallest one is last now
  for (const [at, count] of [3, 2, 1].entries()) view.setFloat64(64 + 8 * at, count, true)
  const read = SpaceSaving.fromBytes(bytes)
  read.add('d')
  expect(read.top().map(({ key }) => key)).toEqual(['a', 'b', 'd'])
})

// sets every stored cell and number to the maximum, the minimum and nonsense, which readers must tolerate
describe.each(everySketch.map((one) => [one.name, one] as const))('%s', (_, one) => {
  const patterns = [0x00, 0x7f, 0x80, 0xff, 0xf0, 0x3f]
  const from = one.kind === undefined ? 16 : 32

  test('reads or rejects extreme bytes with a valid header, and what it reads can be used and serialized', () => {
    for (const pattern of patterns) {
      for (const start of [from, from + 8, 64]) {
        const bytes = fedSketch(one, sketches).toBytes()
        bytes.fill(pattern, start)
        const receiver = fedSketch(one, sketches)
        const code = codeOf(() => {
          const read = one.read(sketches, bytes)
          for (let at = 1; at <= 50; at++) one.feed(read, `key ${at}`, at)
          one.read(sketches, read.toBytes())
          receiver.merge(read as never)
          read.merge(receiver as never)
          one.read(sketches, receiver.toBytes())
          one.read(sketches, read.toBytes())
        })
        expect(code).toMatch(/^(nothing|SLUICE_BAD_BYTES|SLUICE_BAD_AMOUNT|SLUICE_SKETCH_UNSUPPORTED)$/)
      }
    }
  })
})

describe('the largest total that bytes can contain', () => {
  const shape = { width: 4, depth: 2, seed: SEED }
  const most = (bytes: Uint8Array, at: number): Uint8Array => {
    new DataView(bytes.buffer).setFloat64(at, Number.MAX_VALUE, true)
    return bytes
  }

  test('can be merged and serialized by CountMin and RedisBloomCountMin', () => {
    for (const [made, read] of [
      [new CountMin(shape), (bytes: Uint8Array) => CountMin.fromBytes(bytes, { seed: SEED })],
      [new RedisBloomCountMin({ width: 4, depth: 2 }), RedisBloomCountMin.fromBytes],
    ] as const) {
      const sketch = read(most(made.toBytes(), 32))
      sketch.merge(sketch as never, 1)
      sketch.add('red')
      expect(read(sketch.toBytes()).total).toBe(Number.MAX_VALUE)
    }
  })

  test('can be merged and serialized by CountRange', () => {
    const sketch = CountRange.fromBytes(most(new CountRange(shape).toBytes(), 64 + 8), { seed: SEED })
    sketch.merge(sketch)
    expect(CountRange.fromBytes(sketch.toBytes(), { seed: SEED }).total).toBe(Number.MAX_VALUE)
  })

  test('is reached by weights, and stays a number', () => {
    const sketch = new CountMin(shape)
    sketch.add('red')
    for (let times = 0; times < 60; times++) sketch.merge(sketch, 2 ** 30)
    sketch.merge(sketch, -1)
    expect(CountMin.fromBytes(sketch.toBytes(), { seed: SEED }).total).toBe(0)
  })

  test('does not make a shared sketch unshared', () => {
    const shared = new CountMin({ ...shape, shared: true })
    const large = CountMin.fromBytes(most(new CountMin(shape).toBytes(), 32), { seed: SEED })
    for (let times = 0; times < 5; times++) shared.merge(large)
    shared.add('red')
    expect(shared.total).toBe(2 ** 62)
  })
})

test('counts without a total, which would never leave a Hokusai, are rejected', () => {
  const sketch = new HokusaiTime({ width: 4, depth: 2, unitMs: 10, retainMs: 40, seed: SEED })
  sketch.add('red', 3, 5)
  const bytes = sketch.toBytes()
  // the total of the current sketch
  new DataView(bytes.buffer).setFloat64(64, 0, true)
  expect(codeOf(() => HokusaiTime.fromBytes(bytes, { seed: SEED }))).toBe('SLUICE_BAD_BYTES')
})

test('a t-digest with the largest weights still compresses within its capacity', () => {
  for (const scale of ['k1', 'k2'] as const) {
    const digest = new TDigest({ compression: 10, scale })
    for (let at = 0; at < 80; at++) digest.add(at, Math.max(1, Math.floor(2 ** Math.min(at, 46, 79 - at))))
    const read = TDigest.fromBytes(digest.toBytes())
    for (let at = 0; at < 500; at++) read.add(at / 7)
    read.compress()
    expect(read.centroids().reduce((sum, { weight }) => sum + weight, 0)).toBe(read.count)
  }
})

/** Bytes that another thread changes as soon as their header was read. */
class ChangingBytes extends Uint8Array {
  override subarray(from?: number, to?: number): Uint8Array<ArrayBuffer> {
    const seen = new Uint8Array(this.slice(from, to))
    this.fill(0xff, 16, 32)
    return seen
  }
}

test('bytes that another thread changes while they are read are used as they were validated', () => {
  const honest = new CountMin({ width: 4, depth: 2, seed: SEED }).toBytes()
  const bytes = new ChangingBytes(honest.length)
  bytes.set(honest)
  expect(CountMin.fromBytes(bytes, { seed: SEED }).toBytes()).toEqual(honest)
})

test.each(everySketch.map((one) => [one.name, one] as const))(
  '%s rejects values that only resemble bytes',
  (_, one) => {
    const bytes = fedSketch(one, sketches).toBytes()
    const looks = [new Proxy(bytes, {}), Object.create(bytes), { length: bytes.length }, new DataView(bytes.buffer)]
    for (const look of [...looks, Uint16Array.from(bytes), bytes.buffer, [...bytes]]) {
      expect(codeOf(() => one.read(sketches, look as never))).toBe('SLUICE_BAD_BYTES')
    }
  },
)
