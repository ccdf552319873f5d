import { describe, expect, test } from '@jest/globals'
import { SpaceSaving } from '@sluice/sketches'
import fc from 'fast-check'
import { codeOf } from '../contract/sketch-contract.ts'
import { exactly } from './exact-counts.ts'

type Event = readonly [key: string, amount: number]

const KEYS = Array.from({ length: 12 }, (_, n) => `key ${n}`)
const stream = fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.integer({ min: 1, max: 9 })), { maxLength: 80 })
const capacity = fc.integer({ min: 1, max: 8 })

function fed(capacity: number, ...streams: readonly (readonly Event[])[]): SpaceSaving {
  const sketch = new SpaceSaving({ capacity })
  for (const [key, amount] of streams.flat()) sketch.add(key, amount)
  return sketch
}

/** Expects all documented guarantees of a sketch which counted `events`, through any merges. */
function expectBounds(sketch: SpaceSaving, events: readonly Event[]): void {
  const truth = exactly(events)
  const share = sketch.total / sketch.capacity
  const shown = sketch.top()
  expect(sketch.total).toBe(truth.total)
  expect(shown.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(truth.total)
  expect(sketch.floor).toBeLessThanOrEqual(share)
  for (const key of KEYS) {
    const count = truth.of(key)
    expect(sketch.estimate(key)).toBeGreaterThanOrEqual(count)
    expect(sketch.estimate(key) - sketch.error(key)).toBeLessThanOrEqual(count)
    expect(sketch.error(key)).toBeLessThanOrEqual(share)
    if (count > share) expect(shown.map((one) => one.key)).toContain(key)
  }
  for (const n of [1, 2, sketch.capacity]) expectGuarantees(sketch, n, truth.of)
}

function expectGuarantees(sketch: SpaceSaving, n: number, count: (key: string) => number): void {
  const shown = sketch.top(n)
  const others = KEYS.filter((key) => !shown.some((one) => one.key === key)).map(count)
  for (const { key, guaranteed } of shown) {
    if (guaranteed) expect(count(key)).toBeGreaterThanOrEqual(Math.max(0, ...others))
  }
}

describe('SpaceSaving', () => {
  test('a new key replaces the least key, and takes its count as the error', () => {
    const sketch = fed(2, [
      ['a', 5],
      ['b', 2],
      ['c', 1],
    ])
    expect(sketch.top()).toEqual([
      { key: 'a', count: 5, error: 0, guaranteed: true },
      { key: 'c', count: 3, error: 2, guaranteed: false },
    ])
    expect([sketch.estimate('b'), sketch.error('b'), sketch.floor, sketch.total]).toEqual([2, 2, 2, 8])
  })

  test('is exact, and reports so, until the first key is evicted', () => {
    const sketch = fed(3, [
      ['a', 5],
      ['b', 2],
      ['c', 1],
      ['a', 1],
    ])
    expect(sketch.top(2)).toEqual([
      { key: 'a', count: 6, error: 0, guaranteed: true },
      { key: 'b', count: 2, error: 0, guaranteed: true },
    ])
    expect([sketch.estimate('z'), sketch.error('z'), sketch.floor]).toEqual([0, 0, 0])
  })

  test('keeps its bounds for every stream, and its counts sum up to the total', () => {
    fc.assert(
      fc.property(capacity, stream, (k, events) => {
        const sketch = fed(k, events)
        expectBounds(sketch, events)
        expect(sketch.top().reduce((sum, { count }) => sum + count, 0)).toBe(sketch.total)
      }),
      { numRuns: 150 },
    )
  })

  test('keeps its bounds through merges of merged sketches that continue to count', () => {
    fc.assert(
      fc.property(capacity, fc.array(stream, { minLength: 5, maxLength: 5 }), (k, [a, b, c, d, e]) => {
        const left = fed(k, a)
        left.merge(fed(k, b))
        for (const [key, amount] of c) left.add(key, amount)
        const right = fed(k, d)
        right.merge(fed(k, e))
        left.merge(right)
        expectBounds(left, [...a, ...b, ...c, ...d, ...e])
        left.merge(left)
        expectBounds(left, [a, b, c, d, e, a, b, c, d, e].flat())
        expectBounds(SpaceSaving.fromBytes(left.toBytes()), [a, b, c, d, e, a, b, c, d, e].flat())
      }),
      { numRuns: 150 },
    )
  })

  test('gives the same answers whichever sketch is merged into the other, and a merge into an empty sketch changes no answers', () => {
    fc.assert(
      fc.property(capacity, stream, stream, (k, a, b) => {
        const [ab, ba, alone] = [fed(k, a), fed(k, b), fed(k)]
        ab.merge(fed(k, b))
        ba.merge(fed(k, a))
        expect(ab.toBytes()).toEqual(ba.toBytes())
        alone.merge(fed(k, a))
        expect([alone.top(), alone.floor]).toEqual([fed(k, a).top(), fed(k, a).floor])
      }),
    )
  })

  test('merging is exact if both sketches have room for all keys', () => {
    fc.assert(
      fc.property(stream, stream, (a, b) => {
        const sketch = fed(KEYS.length, a)
        sketch.merge(fed(KEYS.length, b))
        expect(sketch.top()).toEqual(fed(KEYS.length, a, b).top())
      }),
    )
  })

  test('orders equal counts by error, then by the UTF-16 units of their keys', () => {
    const sketch = fed(3, [
      ['b', 2],
      ['gone', 1],
      ['é', 2],
      ['B', 1],
    ])
    expect(sketch.top().map(({ key }) => key)).toEqual(['b', 'é', 'B'])
    expect(sketch.top().map(({ count }) => count)).toEqual([2, 2, 2])
  })

  test('lists the requested number of keys, or all keys if there are fewer', () => {
    const sketch = fed(5, [
      ['a', 1],
      ['b', 1],
    ])
    expect([0, 1, 2, 9].map((n) => sketch.top(n).length)).toEqual([0, 1, 2, 2])
    expect([-1, 0.5, Number.NaN].map((n) => codeOf(() => sketch.top(n)))).toEqual(Array(3).fill('SLUICE_BAD_AMOUNT'))
  })

  test('rejects a wrong amount, and a total beyond 2^53 - 1, before it changes anything', () => {
    const sketch = fed(2, [
      ['a', 5],
      ['b', 1],
    ])
    const before = sketch.toBytes()
    for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null, 1n]) {
      expect([amount, codeOf(() => sketch.add('c', amount as number))]).toEqual([amount, 'SLUICE_BAD_AMOUNT'])
    }
    expect(codeOf(() => sketch.add('c', Number.MAX_SAFE_INTEGER - 5))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => sketch.merge(fed(2, [['c', Number.MAX_SAFE_INTEGER]])))).toBe('SLUICE_BAD_AMOUNT')
    for (const none of [0, -0]) sketch.add('c', none)
    expect(sketch.toBytes()).toEqual(before)
    sketch.add('a', Number.MAX_SAFE_INTEGER - 6)
    expect(sketch.estimate('a')).toBe(Number.MAX_SAFE_INTEGER - 1)
  })

  test('rejects a wrong capacity', () => {
    for (const wrong of [0, -1, 1.5, Number.NaN, 2 ** 20 + 1, '8', undefined]) {
      expect([wrong, codeOf(() => new SpaceSaving({ capacity: wrong as number }))]).toEqual([
        wrong,
        'SLUICE_BAD_OPTION',
      ])
    }
    expect(codeOf(() => new SpaceSaving({ capacity: 8, width: 2 } as { capacity: number }))).toBe('SLUICE_BAD_OPTION')
  })
})

describe('SpaceSaving rejects inconsistent bytes', () => {
  // with two keys of one character: counts at 64 and 72, errors at 80 and 88, lengths at 96 and 100, characters at 104
  const honest = (): DataView => {
    const bytes = fed(2, [
      ['a', 5],
      ['b', 2],
      ['c', 1],
    ]).toBytes()
    return new DataView(bytes.buffer)
  }
  const changes: Record<string, (view: DataView) => void> = {
    'a count of 0': (view) => view.setFloat64(64, 0, true),
    'a fractional count': (view) => view.setFloat64(64, 3.5, true),
    'a count that is not a number': (view) => view.setFloat64(72, Number.NaN, true),
    'a count above the total': (view) => view.setFloat64(72, 9, true),
    'counts whose sum exceeds the total': (view) => view.setFloat64(72, 8, true),
    'a count below the floor of evicted keys': (view) => view.setFloat64(64, 1, true),
    'an error above the floor': (view) => view.setFloat64(80, 3, true),
    'an error below 0': (view) => view.setFloat64(88, -1, true),
    'an infinite total': (view) => view.setFloat64(32, Number.POSITIVE_INFINITY, true),
    'a floor below 0': (view) => view.setFloat64(40, -1, true),
    'one key twice': (view) => view.setUint8(104, view.getUint8(105)),
    'a key longer than the maximum': (view) => view.setUint32(96, 257, true),
    'keys that are longer than their bytes': (view) => view.setUint32(96, 2, true),
    'a wide key in the place of a narrow one': (view) => view.setUint32(96, 0x8000_0001, true),
    'more keys than capacity': (view) => view.setUint32(16, 1, true),
  }
  test.each(Object.entries(changes))('%s', (_, change) => {
    const view = honest()
    expect(codeOf(() => SpaceSaving.fromBytes(new Uint8Array(view.buffer)))).toBe('nothing')
    change(view)
    expect(codeOf(() => SpaceSaving.fromBytes(new Uint8Array(view.buffer)))).toBe('SLUICE_BAD_BYTES')
  })
})
