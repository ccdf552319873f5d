import { describe, expect, test } from '@jest/globals'
import { Estimator, type SketchKey, SketchSeed } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf, sketchContract } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('sixteen bytes of a test')
const MOST = 2 ** 31 - 1

const watched = ['red', 'blue', 'green', '', '__proto__', 'naïve', '\ud800', 'x'.repeat(700)]
sketchContract('Estimator', {
  make: () => new Estimator({ rows: 3, slots: 10, seed }),
  strangers: [
    () => new Estimator({ rows: 3, slots: 11, seed }),
    () => new Estimator({ rows: 4, slots: 10, seed }),
    () => new Estimator({ rows: 3, slots: 10, seed: 'another seed of a test' }),
  ],
  feed: (sketch, { key, amount }) => void sketch.incr(key, amount),
  fromBytes: (bytes) => Estimator.fromBytes(bytes, { seed }),
  answers: (sketch) => watched.map((key) => sketch.get(key)),
  mergesExactly: true,
  idempotent: false,
})

describe('the tests of pingora-limits, 8 rows of 8 slots', () => {
  const eightByEight = (): Estimator => new Estimator({ rows: 8, slots: 8 })

  test('incr: 1, 1, 3, 3', () => {
    const estimator = eightByEight()
    const answers = [estimator.incr('a', 1), estimator.incr('b', 1), estimator.incr('a', 2), estimator.incr('b', 2)]
    expect(answers).toEqual([1, 1, 3, 3])
  })

  test('desc: 2, 2', () => {
    const estimator = eightByEight()
    estimator.incr('a', 3)
    estimator.incr('b', 3)
    estimator.decr('a', 1)
    estimator.decr('b', 1)
    expect([estimator.get('a'), estimator.get('b')]).toEqual([2, 2])
  })

  test('get: 3, 3', () => {
    const estimator = eightByEight()
    for (const key of ['a', 'b']) {
      estimator.incr(key, 1)
      estimator.incr(key, 2)
    }
    expect([estimator.get('a'), estimator.get('b')]).toEqual([3, 3])
  })

  test('reset: 0, 0', () => {
    const estimator = eightByEight()
    for (const key of ['a', 'b']) estimator.incr(key, 3)
    estimator.reset()
    expect([estimator.get('a'), estimator.get('b')]).toEqual([0, 0])
  })
})

test('never returns less than the count of a key minus its removals, at any width', () =>
  eachSeed(40, (random, seedOfRun) => {
    const rows = 1 + random.whole(6)
    const slots = 1 + random.whole(30)
    const estimator = new Estimator({ rows, slots, seed: `the seed of run ${seedOfRun} of a test` })
    const exact = new Map<number, number>()
    for (let done = 0; done < 400; done++) {
      const key = random.whole(60)
      const known = exact.get(key) ?? 0
      const amount = random.whole(5)
      if (random.whole(2) === 0) {
        expect(estimator.incr(key, amount)).toBeGreaterThanOrEqual(known + amount)
        exact.set(key, known + amount)
      } else {
        const back = Math.min(known, amount)
        estimator.decr(key, back)
        exact.set(key, known - back)
      }
      const asked = random.whole(60)
      expect(estimator.get(asked)).toBeGreaterThanOrEqual(exact.get(asked) ?? 0)
    }
    for (const [key, known] of exact) estimator.decr(key, known)
    for (const key of exact.keys()) expect(estimator.get(key)).toBe(0)
  }))

test('has an error of at most N / slots on average, and exceeds e · N / slots as rarely as promised', () => {
  const rows = 2
  const slots = 256
  const estimator = new Estimator({ rows, slots, seed })
  const keys = 20_000
  for (let key = 0; key < keys; key++) estimator.incr(`key ${key}`)
  let sum = 0
  let far = 0
  for (let key = 0; key < keys; key++) {
    const error = estimator.get(`key ${key}`) - 1
    sum += error
    if (error > (Math.E * keys) / slots) far++
  }
  expect(sum / keys).toBeLessThan(keys / slots)
  expect(sum / keys).toBeGreaterThan(0)
  expect(far / keys).toBeLessThan(Math.exp(-rows))
})

test('accepts text, numbers and bytes as keys, and distinguishes them', () => {
  const estimator = new Estimator({ seed })
  const keys: SketchKey[] = [7, '7', new Uint8Array([7]), -7, 7.5, 2 ** 53, '', '\ud800', '\udc00', '__proto__']
  keys.forEach((key, index) => {
    expect(estimator.incr(key, index + 1)).toBe(index + 1)
  })
  expect(keys.map((key) => estimator.get(key))).toEqual(keys.map((_, index) => index + 1))
  expect(estimator.get('\u0007')).toBe(3)
  expect([estimator.get(-0), estimator.get(0), estimator.get(Number.NaN)]).toEqual([0, 0, 0])
})

describe('at the limits of its cells', () => {
  const one = (): Estimator => new Estimator({ rows: 2, slots: 1, seed })

  test('a full count stays full until it is reset, whatever is removed', () => {
    const estimator = one()
    expect(estimator.incr('a', MOST - 1)).toBe(MOST - 1)
    expect(estimator.incr('a')).toBe(MOST)
    expect(estimator.incr('a', Number.MAX_SAFE_INTEGER)).toBe(MOST)
    estimator.decr('a', MOST)
    expect(estimator.get('a')).toBe(MOST)
    estimator.reset()
    expect(estimator.get('a')).toBe(0)
  })

  test('a count can fall below zero, down to -2³¹, and rise again from there', () => {
    const estimator = one()
    estimator.decr('a', 2 ** 31)
    expect(estimator.get('a')).toBe(-(2 ** 31))
    for (const amount of [1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      estimator.decr('a', amount)
      expect(estimator.get('a')).toBe(-(2 ** 31))
    }
    expect(estimator.incr('a', 5)).toBe(5 - 2 ** 31)
  })

  test('merging does not overflow either', () => {
    const [full, low] = [one(), one()]
    full.incr('a', MOST)
    low.decr('a', 2 ** 31)
    const both = one()
    both.merge(full)
    both.merge(low)
    expect(both.get('a')).toBe(MOST)
    low.merge(low)
    expect(low.get('a')).toBe(-(2 ** 31))
  })
})

test('takes 64 bytes plus 4 for each cell, and its bytes are its state', () => {
  expect(new Estimator({ rows: 3, slots: 1_000 }).toBytes()).toHaveLength(64 + 12_000)
  expect(new Estimator().toBytes()).toHaveLength(64 + 4 * 4 * 1_024)
})

test('rejects a wrong amount before anything has changed', () => {
  const estimator = new Estimator()
  for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1' as unknown as number]) {
    expect(codeOf(() => estimator.incr('a', amount))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => estimator.decr('a', amount))).toBe('SLUICE_BAD_AMOUNT')
  }
  expect(estimator.get('a')).toBe(0)
  expect(estimator.incr('a', -0)).toBe(0)
})

test.each<[string, object]>([
  ['rows', { rows: 0 }],
  ['rows', { rows: 33 }],
  ['rows', { rows: Number.NaN }],
  ['slots', { slots: 0 }],
  ['slots', { slots: 2 ** 24 + 1 }],
  ['slots', { slots: 1.5 }],
  ['hashes', { hashes: 4 }],
])('rejects an option by its name: %s', (name, options) => {
  expect(() => new Estimator(options)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  expect(() => new Estimator(options)).toThrow(name)
})

test('rejects bytes whose length does not match their shape', () => {
  const honest = new Estimator({ rows: 2, slots: 6, seed }).toBytes()
  const shaped = (...shape: number[]): Uint8Array => {
    const bytes = honest.slice()
    const view = new DataView(bytes.buffer)
    shape.forEach((n, index) => {
      view.setUint32(16 + 4 * index, n, true)
    })
    return bytes
  }
  expect(Estimator.fromBytes(shaped(6, 2, 0, 0), { seed }).slots).toBe(6)
  // 12 cells in total, and a shape that overflows 32 bits to 12
  for (const shape of [
    [6, 2, 1, 0],
    [6, 2, 0, 1],
    [0, 2, 0, 0],
    [6, 0, 0, 0],
    [2 ** 31 + 6, 2, 0, 0],
  ]) {
    expect(codeOf(() => Estimator.fromBytes(shaped(...shape), { seed }))).toBe('SLUICE_BAD_BYTES')
  }
})
