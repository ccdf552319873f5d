import { describe, expect, test } from '@jest/globals'
import { type CellBits, CountMin, type CountMinOptions, SketchSeed } from '@sluice/sketches'
import fc from 'fast-check'
import { codeOf } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('a seed for count-min')
const FULL: Readonly<Record<CellBits, number>> = { 8: 255, 16: 65_535, 32: 2 ** 32 - 1 }

interface Deed {
  readonly key: string
  readonly amount: number
}

const keys = Array.from({ length: 40 }, (_, n) => `key ${n}`)
const streams = (largest: number): fc.Arbitrary<Deed[]> =>
  fc.array(fc.record({ key: fc.constantFrom(...keys), amount: fc.integer({ min: 0, max: largest }) }), {
    maxLength: 80,
  })
const shapes = fc.record({
  width: fc.constantFrom(1, 3, 8, 64),
  depth: fc.integer({ min: 1, max: 6 }),
  cells: fc.constantFrom<CellBits>(8, 16, 32),
})

/** Exact counts of the events. */
function counted(...deeds: readonly (readonly Deed[])[]): Map<string, number> {
  const counts = new Map<string, number>(keys.map((key) => [key, 0]))
  for (const { key, amount } of deeds.flat()) counts.set(key, (counts.get(key) ?? 0) + amount)
  return counts
}

function fed(options: CountMinOptions, ...deeds: readonly (readonly Deed[])[]): CountMin {
  const sketch = new CountMin({ seed, ...options })
  for (const { key, amount } of deeds.flat()) sketch.add(key, amount)
  return sketch
}

function expectNoneTooSmall(sketch: CountMin, counts: ReadonlyMap<string, number>): void {
  const small = [...counts].filter(([key, count]) => sketch.estimate(key) < Math.min(count, FULL[sketch.cells]))
  expect(small).toEqual([])
}

function cellsOf(sketch: CountMin): number[] {
  const bytes = sketch.toBytes().slice(64)
  const { buffer } = bytes
  return [...(sketch.cells === 8 ? bytes : sketch.cells === 16 ? new Uint16Array(buffer) : new Uint32Array(buffer))]
}

describe('the matrix of the article, 3 rows of 4 columns', () => {
  const sketch = foundSketch()
  for (const key of 'red blue blue red red red blue red'.split(' ')) sketch.add(key)

  test('has the cells shown in the article', () => {
    expect(cellsOf(sketch)).toEqual([3, 5, 0, 0, 0, 0, 8, 0, 5, 0, 0, 3])
  })

  test('counts red 5 times and blue 3 times', () => {
    expect([sketch.estimate('red'), sketch.estimate('blue'), sketch.total]).toEqual([5, 3, 8])
  })

  /** Returns a sketch under the first seed that gives red and blue the cells of the article. */
  function foundSketch(): CountMin {
    for (let n = 0; ; n++) {
      const made = new CountMin({ width: 4, depth: 3, seed: `seed ${n} of the article` })
      made.add('red', 1)
      made.add('blue', 10)
      if (`${cellsOf(made)}` === '10,1,0,0,0,0,11,0,1,0,0,10') {
        made.clear()
        return made
      }
    }
  }
})

describe('an estimate', () => {
  test.each([true, false])('is never too small, and at most the cell maximum (conservative: %s)', (conservative) => {
    fc.assert(
      fc.property(shapes, streams(300), (shape, deeds) => {
        const sketch = fed({ ...shape, conservative }, deeds)
        expectNoneTooSmall(sketch, counted(deeds))
        for (const key of keys) expect(sketch.estimate(key)).toBeLessThanOrEqual(FULL[shape.cells])
      }),
    )
  })

  test.each([true, false])('is never too small after a merge (conservative: %s)', (conservative) => {
    fc.assert(
      fc.property(shapes, streams(300), streams(300), fc.integer({ min: 0, max: 5 }), (shape, mine, theirs, weight) => {
        const sketch = fed({ ...shape, conservative }, mine)
        const before = sketch.total
        const other = fed({ ...shape, conservative }, theirs)
        sketch.merge(other, weight)
        const weighted = theirs.map(({ key, amount }) => ({ key, amount: amount * weight }))
        expectNoneTooSmall(sketch, counted(mine, weighted))
        expect(sketch.total).toBe(before + weight * other.total)
      }),
    )
  })

  test.each([true, false])('is never too small after added keys are removed (shared: %s)', (shared) => {
    fc.assert(
      fc.property(shapes, streams(300), streams(300), (shape, kept, removed) => {
        const sketch = fed({ ...shape, shared }, kept, removed)
        for (const { key, amount } of removed) sketch.remove(key, amount)
        expectNoneTooSmall(sketch, counted(kept))
        expect(sketch.total).toBe(sum(kept))
        // without full cells, the bytes equal those of a sketch that never counted the removed keys
        if (!cellsOf(sketch).includes(FULL[shape.cells])) {
          expect(sketch.toBytes()).toEqual(fed(shape, kept).toBytes())
        }
      }),
    )
  })

  test('is what add and remove return', () => {
    fc.assert(
      fc.property(shapes, fc.boolean(), streams(300), (shape, conservative, deeds) => {
        const sketch = new CountMin({ ...shape, conservative, seed })
        for (const { key, amount } of deeds) expect(sketch.add(key, amount)).toBe(sketch.estimate(key))
        if (conservative) return
        for (const { key, amount } of deeds) expect(sketch.remove(key, amount)).toBe(sketch.estimate(key))
      }),
    )
  })

  test('is never larger with conservative counting', () => {
    fc.assert(
      fc.property(shapes, streams(300), (shape, deeds) => {
        const linear = fed(shape, deeds)
        const conservative = fed({ ...shape, conservative: true }, deeds)
        const larger = keys.filter((key) => conservative.estimate(key) > linear.estimate(key))
        expect(larger).toEqual([])
      }),
    )
  })

  test('is much smaller with conservative counting if there are few cells', () => {
    const deeds = Array.from({ length: 4_000 }, (_, n) => ({ key: `key ${(n * n) % 997}`, amount: 1 }))
    const error = (conservative: boolean): number => {
      const sketch = fed({ width: 128, depth: 4, conservative }, deeds)
      return [...counted(deeds)].reduce((wrong, [key, count]) => wrong + sketch.estimate(key) - count, 0)
    }
    expect(error(true)).toBeLessThan(0.6 * error(false))
  })
})

describe('a full cell', () => {
  test.each<CellBits>([8, 16, 32])('of %i bits stays full, whatever is added, removed or merged', (cells) => {
    const sketch = new CountMin({ width: 4, depth: 2, cells, seed })
    expect(sketch.add('a', FULL[cells] - 1)).toBe(FULL[cells] - 1)
    expect(sketch.add('a')).toBe(FULL[cells])
    expect(sketch.add('a', Number.MAX_SAFE_INTEGER - 2 ** 33)).toBe(FULL[cells])
    expect(sketch.remove('a', 1_000)).toBe(FULL[cells])
    sketch.merge(sketch)
    sketch.merge(sketch, -1)
    expect([sketch.estimate('a'), sketch.total]).toEqual([FULL[cells], 0])
    sketch.clear()
    expect([sketch.estimate('a'), sketch.total]).toEqual([0, 0])
  })

  test('is the result of any larger sum, including the sum of a merge', () => {
    const sketch = fed({ width: 4, depth: 2 }, [{ key: 'a', amount: 2 ** 31 }])
    sketch.merge(sketch, 2 ** 31 - 1)
    expect([sketch.estimate('a'), sketch.total]).toEqual([2 ** 32 - 1, 2 ** 62])
  })
})

describe('a merge', () => {
  test('with a negative weight removes what was merged', () => {
    fc.assert(
      fc.property(streams(300), streams(300), fc.boolean(), (mine, theirs, shared) => {
        const options = { width: 8, depth: 3, shared }
        const sketch = fed(options, mine)
        const before = sketch.toBytes()
        const other = fed(options, theirs)
        sketch.merge(other, 7)
        sketch.merge(other, -3)
        sketch.merge(other, -4)
        expect(sketch.toBytes()).toEqual(before)
      }),
    )
  })

  test('that would remove more than was counted changes nothing', () => {
    fc.assert(
      fc.property(streams(300), streams(300), fc.constantFrom<CellBits>(8, 32), (mine, theirs, cells) => {
        const sketch = fed({ width: 3, depth: 3, cells }, mine)
        const other = fed({ width: 3, depth: 3, cells }, theirs, [{ key: 'never in the other', amount: sum(mine) + 1 }])
        const before = sketch.toBytes()
        expect(codeOf(() => sketch.merge(other, -1))).toBe('SLUICE_SKETCH_UNSUPPORTED')
        expect(sketch.toBytes()).toEqual(before)
      }),
    )
  })

  test('works between shared and private memory, in both directions', () => {
    const deeds = [{ key: 'red', amount: 300 }]
    for (const cells of [8, 32] as const) {
      const [own, shared] = [false, true].map((shared) => fed({ width: 8, depth: 2, cells, shared }, deeds))
      expect(shared.toBytes()).toEqual(own.toBytes())
      own.merge(shared)
      shared.merge(shared)
      expect(shared.toBytes()).toEqual(own.toBytes())
      expect([own.total, shared.total]).toEqual([600, 600])
    }
  })

  test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '1', null])('rejects the weight %p', (weight) => {
    const sketch = fed({ width: 8, depth: 2 }, [{ key: 'red', amount: 1 }])
    expect(codeOf(() => sketch.merge(sketch, weight as number))).toBe('SLUICE_BAD_AMOUNT')
    expect(sketch.total).toBe(1)
  })
})

describe('an inner product', () => {
  test('is never too small, and equals the sum of squares if no keys collide', () => {
    fc.assert(
      fc.property(shapes, streams(300), streams(300), (shape, mine, theirs) => {
        const [a, b] = [counted(mine), counted(theirs)]
        const exact = keys.reduce((sum, key) => sum + (a.get(key) ?? 0) * (b.get(key) ?? 0), 0)
        const product = fed(shape, mine).innerProduct(fed(shape, theirs))
        expect(product).toBeGreaterThanOrEqual(exact)
        expect(product).toBe(fed(shape, theirs).innerProduct(fed(shape, mine)))
      }),
    )
    const squares = keys.map((key, n) => ({ key, amount: n }))
    const sketch = fed({ width: 65_536, depth: 4 }, squares)
    expect(sketch.innerProduct(sketch)).toBe(squares.reduce((sum, { amount }) => sum + amount ** 2, 0))
  })

  test('is Infinity if every row has full cells', () => {
    const full = fed({ width: 1, depth: 2, cells: 8 }, [{ key: 'a', amount: 300 }])
    expect(full.innerProduct(full)).toBe(Number.POSITIVE_INFINITY)
    expect(full.innerProduct(new CountMin({ width: 1, depth: 2, cells: 8, seed }))).toBe(0)
  })

  test('is rejected by conservative sketches, whose cells hold less than the sum of their keys', () => {
    const deeds = [
      { key: 'a', amount: 5 },
      { key: 'b', amount: 5 },
    ]
    const sketch = fed({ width: 1, depth: 1, conservative: true }, deeds)
    expect(codeOf(() => sketch.innerProduct(sketch))).toBe('SLUICE_SKETCH_UNSUPPORTED')
  })
})

function sum(deeds: readonly Deed[]): number {
  return deeds.reduce((all, { amount }) => all + amount, 0)
}
