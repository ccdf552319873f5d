import { describe, expect, test } from '@jest/globals'
import { Hokusai, HokusaiItem, type HokusaiOptions, HokusaiTime } from '@sluice/sketches'
import { eachSeed, zipfKeys } from '@sluice/testkit'

const seed = 'a seed of sixteen bytes or more'
const small: HokusaiOptions = { width: 64, depth: 3, unitMs: 1, retainMs: 64, seed }

describe('time, item and joint aggregation of one stream', () => {
  test('joint answers windows like time aggregation, and units like the better of time and item aggregation', async () => {
    await eachSeed(6, (random) => {
      const [joint, time, item] = [new Hokusai(small), new HokusaiTime(small), new HokusaiItem(small)]
      const key = zipfKeys(random, 300)
      let now = random.whole(1000)
      for (let event = 0; event < 4000; event++) {
        if (random.whole(30) === 0) now += random.pick([1, 1, 1, 2, 9])
        const drawn = key()
        for (const sketch of [joint, time, item]) sketch.add(drawn, 1 + (event % 3), now)
      }
      const wrong: unknown[] = []
      for (const asked of [0, 1, 5, 50, 299]) {
        for (let n = 0; n <= 64; n++) {
          if (joint.last(asked, n, now) !== time.last(asked, n, now)) wrong.push({ asked, n })
          const unit = now - n
          const better = Math.min(time.unit(asked, unit) as number, item.unit(asked, unit) as number)
          if (joint.unit(asked, unit) !== better) wrong.push({ asked, unit })
          if (joint.unitTotal(unit) !== item.unitTotal(unit)) wrong.push({ unit })
          if ((joint.interpolated(asked, unit) as number) > better) wrong.push({ asked, unit, above: true })
        }
      }
      expect(wrong).toEqual([])
      expect(joint.unit(0, now - 65)).toBeUndefined()
      expect(joint.interpolated(0, now - 65)).toBeUndefined()
      expect(joint.culled).toBe(item.culled)
    })
  })

  test('an interpolated count is min M · A / B, where B is folded from the block of the unit to the width of A', async () => {
    // a mirror with plain arrays, whose columns are read from a sketch that counted one key
    await eachSeed(4, (random) => {
      const sketch = new Hokusai(small)
      const units: Map<number, number>[] = []
      const key = zipfKeys(random, 200)
      for (let unit = 0; unit <= 40; unit++) {
        const counts = new Map<number, number>()
        for (let event = 0; event < 200; event++) {
          const drawn = key()
          counts.set(drawn, (counts.get(drawn) ?? 0) + 1)
          sketch.add(drawn, 1, unit)
        }
        units.push(counts)
      }
      const columns = Array.from({ length: 200 }, (_, drawn) => columnsOf(drawn))
      let interpolated = 0
      for (let unit = 0; unit < 40; unit++) {
        const age = 40 - unit
        const level = [0, 1, 2, 3, 4, 5, 6].find((j) => inBlock(40, j, unit)) as number
        for (let asked = 0; asked < 200; asked += 11) {
          const own = 64 / 2 ** Math.floor(Math.log2(age))
          const cell = (from: number, to: number, row: number, width: number) => {
            let sum = 0
            for (let at = from; at < to; at++) {
              for (const [other, count] of units[at]) {
                if (columns[other][row] % width === columns[asked][row] % width) sum += count
              }
            }
            return sum
          }
          const direct = Math.min(...[0, 1, 2].map((row) => cell(unit, unit + 1, row, own)))
          const most = sketch.unit(asked, unit) as number
          const end = 40 - (40 % 2 ** level)
          const folded = 64 / 2 ** level
          const shares = [0, 1, 2].map((row) => {
            const B = cell(end - 2 ** level, end, row, folded)
            return B === 0 ? 0 : (cell(end - 2 ** level, end, row, 64) * cell(unit, unit + 1, row, folded)) / B
          })
          const heavy = direct > (Math.E * 200) / own
          if (!heavy) interpolated++
          expect(sketch.interpolated(asked, unit)).toBeCloseTo(heavy ? most : Math.min(most, ...shares), 6)
        }
      }
      expect(interpolated).toBeGreaterThan(100)
    })
  })

  test('heavy keys are detected by the count of their unit, not by the unit number', () => {
    const far = 1_000_000
    const sketch = new Hokusai(small)
    // 100 of 400: far above e · 400 / 64 = 17, far below e · 1,000,000 / 64
    sketch.add('heavy', 100, far)
    for (let key = 0; key < 300; key++) sketch.add(key, 1, far)
    sketch.add('other', 5, far + 1)
    expect(sketch.unitTotal(far)).toBe(400)
    expect(sketch.interpolated('heavy', far)).toBe(sketch.unit('heavy', far))
  })

  test('products of two large counts do not overflow', () => {
    const sketch = new Hokusai({ ...small, width: 4096 })
    // both are light in their unit, and their cells are so full that a product needs more than 32 bits
    for (let unit = 0; unit < 8; unit++) {
      sketch.add('x', 1_000_000, unit)
      for (let key = 0; key < 3000; key++) sketch.add(key, 1_000_000, unit)
    }
    sketch.advance(8)
    // all units are equal: a unit is an eighth of the block
    for (let unit = 0; unit < 8; unit++) {
      const found = sketch.interpolated('x', unit) as number
      expect(found).toBeGreaterThanOrEqual(1_000_000 - 1e-3)
      expect(found).toBeLessThanOrEqual(sketch.unit('x', unit) as number)
    }
  })

  test('an interpolated count is 0, not NaN, if the block is empty', () => {
    const sketch = new Hokusai(small)
    sketch.add('x', 1, 0)
    sketch.advance(8)
    expect(sketch.interpolated('never', 5)).toBe(0)
    expect(sketch.interpolated('x', 5)).toBe(0)
  })

  test('an interpolated count can be too small, so limits must not use it', () => {
    const sketch = new Hokusai(small)
    // each key occurs in one unit only: interpolation spreads it evenly over all four units of the block
    for (let unit = 0; unit < 4; unit++) for (let key = unit; key < 64; key += 4) sketch.add(key, 1, unit)
    sketch.advance(4)
    const ones = Array.from({ length: 16 }, (_, n) => 4 * n + 1)
    expect(ones.filter((key) => (sketch.interpolated(key, 1) as number) < 1)).not.toEqual([])
    expect(ones.filter((key) => (sketch.unit(key, 1) as number) < 1)).toEqual([])
  })

  test('interpolates after a merge, clear() and deserialization like a sketch that counted everything', () => {
    const parts = [new Hokusai(small), new Hokusai(small)]
    const whole = new Hokusai(small)
    const cleared = new Hokusai(small)
    cleared.add('gone', 900, 3)
    cleared.advance(9)
    cleared.clear()
    for (let unit = 0; unit <= 20; unit++) {
      for (let key = 0; key < 90; key++) {
        for (const sketch of [parts[(unit + key) % 2], whole, cleared]) sketch.add(key, 1 + (key % 3), unit)
      }
    }
    parts[0].merge(parts[1])
    const read = Hokusai.fromBytes(whole.toBytes(), { seed })
    const answers = (sketch: Hokusai) => Array.from({ length: 90 }, (_, key) => sketch.interpolated(key, 9))
    for (const sketch of [parts[0], read, cleared]) expect(answers(sketch)).toEqual(answers(whole))
    for (const sketch of [cleared, read]) {
      sketch.clear()
      for (const unit of [0, 7]) sketch.add('new', 1, unit)
      sketch.advance(8)
      const fresh = new Hokusai(small)
      for (const unit of [0, 7]) fresh.add('new', 1, unit)
      fresh.advance(8)
      expect([1, 5].map((unit) => sketch.interpolated('new', unit))).toEqual(
        [1, 5].map((unit) => fresh.interpolated('new', unit)),
      )
    }
  })

  test('takes the reported bytes', () => {
    const sketch = new Hokusai(small)
    for (let unit = 0; unit < 200; unit++) sketch.add(unit, 1, unit)
    expect(sketch.toBytes().length).toBe(Hokusai.bytesFor(small))
  })
})

function inBlock(T: number, level: number, unit: number): boolean {
  const end = T - (T % 2 ** level)
  return end - 2 ** level <= unit && unit < end
}

/**
 * The columns of a key in three rows of 64: the last cells of an item aggregation are the cells of its running unit.
 */
function columnsOf(key: number): number[] {
  const sketch = new HokusaiItem({ ...small, retainMs: 1 })
  sketch.add(key, 1, 0)
  const cells = new Uint32Array(sketch.toBytes().slice(-4 * 3 * 64).buffer)
  return [0, 1, 2].map((row) => cells.subarray(row * 64, (row + 1) * 64).indexOf(1))
}
