import { describe, expect, jest, test } from '@jest/globals'
import * as here from '@sluice/sketches'
import { codeOf } from '../../sketches/contract/sketch-contract.ts'
import { everySketch, fedSketch, type SketchClass, type Sketches } from '../../sketches/every-sketch.ts'

/** Simulates the ESM and the CommonJS copy of the package in one process: the same classes, twice. */
let there = here
jest.isolateModules(() => {
  // an export is loaded when it is read
  there = { ...(require('@sluice/sketches') as Sketches) }
})

function throws(): never {
  throw new Error('looked at')
}

/** Values that are not a sketch of any class, but may resemble one. */
const nonsense: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['text', 'sketch'],
  ['an object', {}],
  ['an object that claims to have bytes', { toBytes: () => 'bytes' }],
  ['a few bytes', { toBytes: () => new Uint8Array(3) }],
  ['what throws', { toBytes: throws }],
  ['an object that throws on every access', new Proxy({}, { get: throws })],
]

function merged(one: SketchClass, other: unknown): { code: string; bytes: Uint8Array } {
  const sketch = fedSketch(one, here)
  return { code: codeOf(() => sketch.merge(other as never)), bytes: sketch.toBytes() }
}

test('there are two copies', () => {
  expect(there.CountMin).not.toBe(here.CountMin)
})

describe.each(everySketch.map((one) => [one.name, one] as const))('%s', (name, one) => {
  const own = fedSketch(one, here).toBytes()

  test('merges a sketch of another copy like one of its own', () => {
    const { code, bytes } = merged(one, fedSketch(one, there))
    expect({ code, bytes }).toEqual(merged(one, fedSketch(one, here)))
    expect(code).toBe('nothing')
  })

  test.each(nonsense)('rejects a merge with %s, and stays unchanged', (_, other) => {
    expect(merged(one, other)).toEqual({ code: 'SLUICE_SKETCH_MISMATCH', bytes: own })
  })

  test('rejects a merge with every other class of both copies, and with an empty instance of its own', () => {
    const shell = Object.create(Object.getPrototypeOf(one.make(here)))
    const others = everySketch.filter((other) => other.name !== name)
    for (const other of [shell, ...others.flatMap((stranger) => [stranger.make(here), stranger.make(there)])]) {
      expect(merged(one, other)).toEqual({ code: 'SLUICE_SKETCH_MISMATCH', bytes: own })
    }
  })
})

test('a sketch shared with threads merges into one of the other copy, and computes its inner product', () => {
  const shape = { width: 16, depth: 2, seed: 'a seed of sixteen bytes, and more' }
  const shared = new there.CountMin({ ...shape, shared: true })
  shared.add('red', 3)
  const sketch = new here.CountMin(shape)
  sketch.add('red', 2)
  expect(sketch.innerProduct(shared as never)).toBe(6)
  sketch.merge(shared as never, 2)
  expect(sketch.estimate('red')).toBe(8)
})

test('RedisHyperLogLog returns the difference to one of another copy, and rejects other values', () => {
  const [sketch, other] = [new here.RedisHyperLogLog(), new there.RedisHyperLogLog()]
  for (const key of ['red', 'blue']) sketch.add(key)
  other.add('red')
  expect(sketch.beyond(other as never)?.count()).toBe(1)
  for (const [, none] of nonsense) expect(codeOf(() => sketch.beyond(none as never))).toBe('SLUICE_SKETCH_MISMATCH')
})

test('a SketchSeed of one copy works in the other, and without a seed both use the seed of the process', () => {
  const seed = new there.SketchSeed('a seed of sixteen bytes, and more') as never
  const counted = new here.HyperLogLog({ seed })
  counted.add('red')
  const all = new there.HyperLogLog({ seed: 'a seed of sixteen bytes, and more' })
  all.merge(counted as never)
  expect(all.count()).toBe(1)
  const unsaid = new here.HyperLogLog()
  unsaid.merge(new there.HyperLogLog() as never)
})

test.each([
  ['an object', {}],
  ['an object with a hashOf and no id', { hashOf: () => undefined }],
  ['an object with an invalid id', { hashOf: () => undefined, idLow: '1', idHigh: 2 }],
  ['a function', () => undefined],
])('a seed that is %s is rejected at construction', (_, seed) => {
  expect(codeOf(() => new here.HyperLogLog({ seed: seed as never }))).toBe('SLUICE_BAD_OPTION')
})

test.each([undefined, null, {}, 5, [undefined]])('RedisBloomCountMin rejects the sum of %p', (sources) => {
  const sketch = new here.RedisBloomCountMin({ width: 4, depth: 2 })
  expect(codeOf(() => sketch.mergeAll(sources as never))).toBe('SLUICE_SKETCH_MISMATCH')
})

test.each([
  [
    'a sparse list of weights',
    (a: never) => [
      [a, a],
      [undefined, 1],
    ],
  ],
  ['real holes', (a: never) => [[a, a], Object.assign([], { 1: 1 })]],
  ['weights that are not a list', (a: never) => [[a, a], 5]],
] as const)('RedisBloomCountMin rejects %s', (_, given) => {
  const sketch = new here.RedisBloomCountMin({ width: 4, depth: 2 })
  sketch.add('red')
  const before = sketch.toBytes()
  const [sources, weights] = given(sketch as never)
  expect(codeOf(() => sketch.mergeAll(sources as never, weights as never))).toBe('SLUICE_BAD_AMOUNT')
  expect(sketch.toBytes()).toEqual(before)
})
