import { describe, expect, test } from '@jest/globals'
import { CountRange, type CountRangeOptions, SketchSeed } from '@sluice/sketches'
import fc from 'fast-check'
import { codeOf } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('a seed for ranges of keys')

function fed(options: Omit<CountRangeOptions, 'seed'>, deeds: readonly (readonly [number, number])[]): CountRange {
  const sketch = new CountRange({ ...options, seed })
  for (const [key, amount] of deeds) sketch.add(key, amount)
  return sketch
}

function exact(deeds: readonly (readonly [number, number])[], low: number, high: number): number {
  return deeds.reduce((sum, [key, amount]) => (key >= low && key <= high ? sum + amount : sum), 0)
}

const deedsOf = (bits: number): fc.Arbitrary<[number, number][]> =>
  fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** bits - 1 }), fc.integer({ min: 0, max: 9 })), { maxLength: 60 })

describe('a range count', () => {
  test('is exact for every range of a small domain', () => {
    fc.assert(
      fc.property(deedsOf(5), (deeds) => {
        const sketch = fed({ bits: 5, width: 16, depth: 2 }, deeds)
        for (let low = 0; low < 32; low++) {
          for (let high = low; high < 32; high++) expect(sketch.range(low, high)).toBe(exact(deeds, low, high))
        }
      }),
      { numRuns: 20 },
    )
  })

  test.each([8, 32, 52])('with cells of %i bits is never too small, and never more than the total', (bits) => {
    fc.assert(
      fc.property(deedsOf(bits), fc.integer({ min: 0, max: 2 ** bits - 1 }), fc.nat(300), (deeds, low, more) => {
        const sketch = fed({ bits, width: 7, depth: 2 }, deeds)
        for (const high of [low, Math.min(low + more, 2 ** bits - 1), 2 ** bits - 1]) {
          expect(sketch.range(low, high)).toBeGreaterThanOrEqual(exact(deeds, low, high))
          expect(sketch.range(low, high)).toBeLessThanOrEqual(sketch.total)
        }
      }),
    )
  })

  test('is exact with many cells, including the edges of the domain', () => {
    for (const bits of [1, 31, 32, 33, 52]) {
      const last = 2 ** bits - 1
      const deeds = [
        [0, 3],
        [last, 5],
        [Math.floor(last / 2), 7],
      ] as const
      const sketch = fed({ bits, width: 1_024, depth: 4 }, deeds)
      for (const [low, high] of [
        [0, 0],
        [last, last],
        [0, last],
        [1, last],
        [0, last - 1],
      ].filter(([a, b]) => a <= b)) {
        expect({ bits, low, high, count: sketch.range(low, high) }).toEqual({
          bits,
          low,
          high,
          count: exact(deeds, low, high),
        })
      }
    }
  })

  test('is the total if a cell is full, since the real count is unknown', () => {
    const sketch = fed({ bits: 32, width: 1_024, depth: 4 }, [
      [2 ** 31, 2 ** 33],
      [5, 1],
    ])
    expect(sketch.range(2 ** 31, 2 ** 31)).toBe(2 ** 33 + 1)
    expect([sketch.range(5, 5), sketch.range(6, 2 ** 30)]).toEqual([1, 0])
    expect(sketch.range(0, 2 ** 32 - 1)).toBe(2 ** 33 + 1)
  })

  test('after a merge is the count of both streams', () => {
    const [a, b] = [fed({ bits: 20, width: 64, depth: 4 }, [[7, 1]]), fed({ bits: 20, width: 64, depth: 4 }, [[9, 2]])]
    a.merge(b)
    expect([a.range(7, 9), a.range(8, 9), a.total]).toEqual([3, 2, 3])
  })

  test.each([
    [-1, 5],
    [0, 256],
    [5, 4],
    [0.5, 3],
    [Number.NaN, 3],
    [0, Number.POSITIVE_INFINITY],
    ['1', 3],
  ])('from %p to %p is rejected', (low, high) => {
    const sketch = fed({ bits: 8, width: 4, depth: 2 }, [[1, 1]])
    expect(codeOf(() => sketch.range(low as number, high))).toBe('SLUICE_BAD_AMOUNT')
  })

  test('ignores keys outside of the domain', () => {
    const sketch = new CountRange({ bits: 8, width: 4, depth: 2, seed })
    for (const key of [-1, 256, 0.5, Number.NaN, '7', undefined]) {
      expect(codeOf(() => sketch.add(key as number))).toBe('SLUICE_BAD_AMOUNT')
    }
    expect(sketch.total).toBe(0)
  })

  test.each([0, 53, 1.5, null])('of %p bits is rejected', (bits) => {
    expect(codeOf(() => new CountRange({ bits: bits as number, width: 4, depth: 2 }))).toBe('SLUICE_BAD_OPTION')
  })

  test('reports its error: 2 e / width for each depth that is not exact', () => {
    const sketch = new CountRange({ width: 1_024, depth: 4 })
    expect([sketch.bits, sketch.epsilon]).toEqual([32, (2 * 20 * Math.E) / 1_024])
    expect(new CountRange({ bits: 12, width: 1_024, depth: 4 }).epsilon).toBe(0)
  })
})
