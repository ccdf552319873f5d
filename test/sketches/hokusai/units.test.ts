import { describe, expect, test } from '@jest/globals'
import { HokusaiItem, type HokusaiOptions } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf } from '../contract/sketch-contract.ts'

const seed = 'a seed of sixteen bytes or more'
const small: HokusaiOptions = { width: 64, depth: 3, unitMs: 1, retainMs: 64, seed }

describe('item aggregation', () => {
  test.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
    [7, 2],
    [8, 3],
    [15, 3],
    [16, 4],
    [63, 5],
    [64, 6],
  ])('a unit of age %i was folded %i times', (age, folds) => {
    const sketch = new HokusaiItem(small)
    expect(sketch.widthAt(age)).toBe(64 / 2 ** folds)
  })

  // up to four rows use 16 bits of the hash each, more rows are hashed twice: both must nest
  test.each([3, 5])(
    'after these folds, its %i rows equal the full rows, summed over columns that agree in their low bits',
    (depth) => {
      const sketch = new HokusaiItem({ ...small, width: 16, depth, retainMs: 16 })
      const keys = Array.from({ length: 60 }, (_, n) => `key ${n}`)
      keys.forEach((key, n) => {
        sketch.add(key, n + 1, 0)
      })
      const full = keys.map((key) => columnsOf(key, depth))
      for (let age = 1; age <= 16; age++) {
        sketch.advance(age)
        const width = sketch.widthAt(age)
        const expected = keys.map((_, mine) => {
          const sums = full[mine].map((column, row) =>
            keys.reduce((sum, _key, n) => (full[n][row] % width === column % width ? sum + n + 1 : sum), 0),
          )
          return Math.min(...sums)
        })
        expect(keys.map((key) => sketch.unit(key, 0))).toEqual(expected)
      }
    },
  )

  test('the first event of a unit is counted in it, and a clock that steps back counts into the running unit', () => {
    const sketch = new HokusaiItem({ ...small, width: 4096 })
    sketch.add('x', 7, 9)
    sketch.add('x', 1, 10)
    sketch.add('x', 2, 3)
    expect([sketch.unit('x', 9), sketch.unit('x', 10), sketch.unitTotal(10)]).toEqual([7, 3, 3])
  })

  test('every unit is available with its total during the retention, and is never too small', async () => {
    await eachSeed(12, (random) => {
      const retainMs = 1 + random.whole(64)
      const sketch = new HokusaiItem({ ...small, retainMs })
      const counts: Map<number, number>[] = []
      for (let unit = 0; unit < 150; unit++) {
        const mine = new Map<number, number>()
        for (let event = random.whole(30); event > 0; event--) {
          const key = random.whole(40)
          mine.set(key, (mine.get(key) ?? 0) + 2)
          sketch.add(key, 2, unit)
        }
        sketch.advance(unit)
        counts.push(mine)
        const wrong: unknown[] = []
        for (let past = 0; past <= unit; past++) {
          const kept = past >= unit - retainMs
          const total = [...counts[past].values()].reduce((sum, count) => sum + count, 0)
          if (sketch.unitTotal(past) !== (kept ? total : undefined)) wrong.push({ past, total })
          for (let key = 0; key < 40; key += 7) {
            const found = sketch.unit(key, past)
            const fits = kept
              ? (found as number) >= (counts[past].get(key) ?? 0) && (found as number) <= total
              : found === undefined
            if (!fits) wrong.push({ past, key, found })
          }
        }
        expect(wrong).toEqual([])
      }
      expect(sketch.unit(1, 150)).toBeUndefined()
      const first = counts.findIndex(({ size }) => size > 0)
      expect(sketch.culled).toBe(149 - retainMs - first)
    })
  })

  test('folding loses no counts: one column holds the total of its unit', () => {
    const sketch = new HokusaiItem({ ...small, width: 8, retainMs: 8 })
    for (let key = 0; key < 100; key++) sketch.add(key, 3, 0)
    sketch.advance(8)
    expect(sketch.widthAt(8)).toBe(1)
    expect([sketch.unit('never', 0), sketch.unitTotal(0)]).toEqual([300, 300])
  })

  test('a gap of any length has the same result as ending each unit separately', async () => {
    await eachSeed(60, (random) => {
      const options = { ...small, width: 64, retainMs: 1 + random.whole(64) }
      const jumps = new HokusaiItem(options)
      const steps = new HokusaiItem(options)
      let now = random.whole(200)
      for (let event = 0; event < 25; event++) {
        const gap = random.pick([0, 1, 1, 2, 3, random.whole(20), random.whole(150)])
        for (let unit = now; unit <= now + gap; unit++) steps.advance(unit)
        now += gap
        const [key, amount] = [random.whole(9), 1 + random.whole(5)]
        jumps.add(key, amount, now)
        steps.add(key, amount, now)
        expect(jumps.culled).toBe(steps.culled)
        expect(Buffer.compare(jumps.toBytes(), steps.toBytes())).toBe(0)
      }
    })
  })

  test('a gap of 2^40 units takes little work, and removes all counts', () => {
    const sketch = new HokusaiItem(small)
    for (let unit = 0; unit < 100; unit++) sketch.add('x', 1, unit)
    sketch.advance(2 ** 40)
    for (let age = 0; age <= 64; age++) expect(sketch.unitTotal(2 ** 40 - age)).toBe(0)
    expect(
      sketch
        .toBytes()
        .slice(64)
        .some((byte) => byte > 0),
    ).toBe(false)
    expect(sketch.culled).toBe(2 ** 40 - 64)
  })

  test('takes one sketch for each doubling of the history, one for the running unit, and one total per unit', () => {
    for (const [retainMs, sketches] of [
      [1, 2],
      [2, 3],
      [3, 3],
      [4, 4],
      [63, 7],
      [64, 8],
    ]) {
      const bytes = HokusaiItem.bytesFor({ ...small, retainMs })
      expect(bytes).toBeGreaterThanOrEqual(sketches * 4 * 64 * 3)
      expect(bytes).toBeLessThanOrEqual(sketches * 4 * 64 * 3 + 16 * retainMs + 192)
      const sketch = new HokusaiItem({ ...small, retainMs })
      for (let unit = 0; unit < 200; unit++) sketch.add(unit, 1, unit)
      expect(sketch.toBytes().length).toBe(bytes)
    }
  })

  test('a full cell stays full when it is folded', () => {
    const sketch = new HokusaiItem({ ...small, width: 2, depth: 1, retainMs: 2 })
    for (let key = 0; key < 8; key++) sketch.add(key, 2 ** 32 - 1, 0)
    sketch.advance(2)
    expect(sketch.unit(1, 0)).toBe(2 ** 32 - 1)
  })

  test('more units than cells in a row are rejected, since the oldest unit would have less than one cell', () => {
    expect(codeOf(() => new HokusaiItem({ ...small, retainMs: 65 }))).toBe('SLUICE_BAD_OPTION')
    expect(new HokusaiItem({ width: 64, depth: 3, unitMs: 5, seed }).retainUnits).toBe(64)
    expect(new HokusaiItem({ width: 8192, depth: 1, unitMs: 5, seed }).retainUnits).toBe(4096)
    expect(codeOf(() => new HokusaiItem({ ...small, blocksPerLevel: 2 } as HokusaiOptions))).toBe('SLUICE_BAD_OPTION')
  })

  test('invalid amounts and times are rejected, and change nothing', () => {
    const sketch = new HokusaiItem(small)
    sketch.add('x', 1, 5)
    const before = sketch.toBytes()
    for (const amount of [-1, 0.5, Number.NaN, 2 ** 53])
      expect(codeOf(() => sketch.add('x', amount, 9))).toBe('SLUICE_BAD_AMOUNT')
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(codeOf(() => sketch.add('x', 1, now))).toBe('SLUICE_BAD_AMOUNT')
    for (const unit of [-1, 0.5, Number.NaN]) {
      expect(codeOf(() => sketch.unit('x', unit))).toBe('SLUICE_BAD_AMOUNT')
      expect(codeOf(() => sketch.unitTotal(unit))).toBe('SLUICE_BAD_AMOUNT')
      expect(codeOf(() => sketch.widthAt(unit))).toBe('SLUICE_BAD_AMOUNT')
    }
    expect(sketch.toBytes()).toEqual(before)
  })
})

/** The columns of a key in rows of 16, read from the bytes of a sketch that counted only this key. */
function columnsOf(key: string, depth: number): number[] {
  const sketch = new HokusaiItem({ ...small, width: 16, depth, retainMs: 1 })
  sketch.add(key, 1, 0)
  const cells = new Uint32Array(sketch.toBytes().slice(-4 * depth * 16).buffer)
  return Array.from({ length: depth }, (_, row) => cells.subarray(row * 16, (row + 1) * 16).indexOf(1))
}
