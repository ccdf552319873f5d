import { describe, expect, test } from '@jest/globals'
import { HokusaiTime, type HokusaiTimeOptions } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf } from '../contract/sketch-contract.ts'

const seed = 'a seed of sixteen bytes or more'
const small: HokusaiTimeOptions = { width: 256, depth: 3, unitMs: 1, retainMs: 64, seed }

/** Counts 'x' once in each unit before `units`, and starts unit `units`. */
function ticked(units: number, options: HokusaiTimeOptions = small): HokusaiTime {
  const sketch = new HokusaiTime(options)
  for (let unit = 0; unit < units; unit++) sketch.add('x', 1, unit)
  sketch.advance(units)
  return sketch
}

const spans = (sketch: HokusaiTime) => sketch.blocks().map(({ from, to }) => [from, to])

describe('time aggregation', () => {
  test.each([
    [
      6,
      [
        [5, 6],
        [4, 6],
        [0, 4],
      ],
    ],
    [
      7,
      [
        [6, 7],
        [4, 6],
        [0, 4],
      ],
    ],
    [
      8,
      [
        [7, 8],
        [6, 8],
        [4, 8],
        [0, 8],
      ],
    ],
  ])('keeps the blocks of theorem 4 when unit %i begins', (units, expected) => {
    expect(spans(ticked(units)).filter(([, to]) => to > 0)).toEqual(expected)
    for (const { from, to, total } of ticked(units).blocks()) expect(total).toBe(to - from)
  })

  test('block j covers [T - δ - 2^j, T - δ), δ = T mod 2^j, at every T up to 64', () => {
    const sketch = new HokusaiTime(small)
    const mismatches: unknown[] = []
    for (let T = 0; T <= 64; T++) {
      sketch.advance(T)
      for (const { level, from, to, total } of sketch.blocks()) {
        const end = T - (T % 2 ** level)
        let sum = 0
        for (let unit = from; unit < to; unit++) sum += 1 + unit
        if (to !== end || from !== end - 2 ** level || total !== sum) mismatches.push({ T, level, from, to, total })
      }
      sketch.add(`key ${T % 7}`, 1 + T, T)
    }
    expect(mismatches).toEqual([])
  })

  test('returns 5 · (n - k) from tick k on after n ticks of five events, and 0 for an unknown key', () => {
    const sketch = new HokusaiTime(small)
    for (let n = 1; n <= 32; n++) {
      for (let event = 0; event < 5; event++) sketch.add('x', 1, n - 1)
      for (let k = 0; k < n; k++) {
        // a part that begins before tick k is left out or counted completely: the answer lies between the two
        expect(sketch.last('x', n - k, n, 'none')).toBeLessThanOrEqual(5 * (n - k))
        expect(sketch.last('x', n - k, n)).toBeGreaterThanOrEqual(5 * (n - k))
        expect(sketch.last('x', n - k, n, 'weighted')).toBeCloseTo(5 * (n - k), 9)
        expect(sketch.last('y', n - k, n)).toBe(0)
      }
      expect(sketch.last('x', 0, n)).toBe(0)
      sketch.advance(n)
      expect(sketch.unit('x', n)).toBe(0)
      expect(sketch.unit('x', n + 1)).toBeUndefined()
    }
  })

  test('the first event of a unit is counted in that unit', () => {
    const sketch = new HokusaiTime(small)
    sketch.add('x', 7, 9)
    sketch.add('x', 1, 10)
    expect(sketch.last('x', 0, 10)).toBe(1)
    expect(sketch.last('x', 1, 10)).toBe(8)
    expect(sketch.unit('x', 9)).toBe(7)
  })

  test('units follow the clock: events at the first and at the last ms of a unit are counted in it', () => {
    const sketch = new HokusaiTime({ ...small, unitMs: 1000, retainMs: 60_000 })
    sketch.add('x', 1, 1_999.999)
    expect(sketch.running).toBe(1)
    sketch.add('x', 1, 2_000)
    expect(sketch.running).toBe(2)
    expect([sketch.unit('x', 1), sketch.unit('x', 2)]).toEqual([1, 1])
  })

  test('a clock that steps back counts into the running unit', () => {
    const sketch = new HokusaiTime(small)
    sketch.add('x', 1, 20)
    for (const earlier of [19, 3, 0, -5, Number.NEGATIVE_INFINITY]) sketch.add('x', 1, earlier)
    expect(sketch.running).toBe(20)
    expect(sketch.last('x', 0, 4)).toBe(6)
    expect(sketch.unit('x', 20)).toBe(6)
  })

  test('a gap of any length has the same result as ending each unit separately', async () => {
    await eachSeed(60, (random) => {
      const options = { ...small, retainMs: 1 + random.whole(40), blocksPerLevel: 1 + random.whole(4) }
      const jumps = new HokusaiTime(options)
      const steps = new HokusaiTime(options)
      let now = random.whole(200)
      for (let event = 0; event < 25; event++) {
        const gap = random.pick([0, 1, 1, 2, 3, random.whole(20), random.whole(150)])
        for (let unit = now; unit <= now + gap; unit++) steps.advance(unit)
        now += gap
        const key = `key ${random.whole(9)}`
        const amount = 1 + random.whole(5)
        jumps.add(key, amount, now)
        steps.add(key, amount, now)
        expect(jumps.culled).toBe(steps.culled)
        expect(Buffer.compare(jumps.toBytes(), steps.toBytes())).toBe(0)
      }
    })
  })

  test('a gap of 2^40 units takes little work, and removes all counts', () => {
    const sketch = ticked(100)
    sketch.advance(2 ** 40)
    expect(sketch.last('x', 64, 2 ** 40)).toBe(0)
    sketch.add('x', 3, 2 ** 40 + 1)
    expect(sketch.last('x', 1, 2 ** 40 + 2)).toBe(3)
  })

  test('no count is lost or counted twice: the parts of the past add up to the total', async () => {
    await eachSeed(20, (random) => {
      const retainMs = 1 + random.whole(90)
      // one cell: every part counts all keys
      const sketch = new HokusaiTime({ ...small, width: 1, depth: 1, retainMs, blocksPerLevel: 1 + random.whole(3) })
      const parts = new Float64Array(2 * sketch.maxParts)
      sketch.aim('any')
      for (let now = 0, all = 0; now <= retainMs; now += 1 + random.whole(3)) {
        const amount = random.whole(9)
        sketch.addAimed(amount, now)
        all += amount
        const written = sketch.aimedParts(parts, now)
        let sum = 0
        for (let part = 0; part < written; part++) sum += parts[2 * part + 1]
        expect(sum).toBe(all)
      }
    })
  })
})

describe('retention', () => {
  test('the size in bytes is known in advance, and never changes', () => {
    for (const blocksPerLevel of [1, 2, 5]) {
      const options = { ...small, retainMs: 1000, blocksPerLevel }
      const sketch = new HokusaiTime(options)
      const bytes = HokusaiTime.bytesFor(options)
      expect(sketch.toBytes().length).toBe(bytes)
      for (let now = 0; now < 3000; now += 7) sketch.add(now, 1, now)
      expect(sketch.toBytes().length).toBe(bytes)
    }
  })

  test('keeps one sketch for each doubling of the history, and one for the running unit', () => {
    const cells = (retainMs: number) => {
      const bytes = HokusaiTime.bytesFor({ ...small, retainMs })
      return Math.floor((bytes - 64) / (4 * 256 * 3))
    }
    expect([1, 2, 3, 4, 5, 64, 65, 4096].map(cells)).toEqual([2, 3, 4, 4, 5, 8, 9, 14])
  })

  test('removes blocks that are entirely older than retainMs, and counts them in culled', () => {
    const sketch = new HokusaiTime({ ...small, retainMs: 6 })
    for (let now = 0; now < 8; now++) sketch.add('x', 1, now)
    expect(sketch.culled).toBe(0)
    sketch.advance(13)
    // [0, 8) ends 5 units before the running one
    expect(sketch.culled).toBe(0)
    expect(sketch.blocks()).toContainEqual({ level: 3, from: 0, to: 8, total: 8 })
    sketch.advance(14)
    expect(sketch.culled).toBe(1)
    expect(sketch.blocks().filter(({ total }) => total > 0)).toEqual([])
    expect(sketch.last('x', 1000, 14)).toBe(0)
    expect(sketch.unit('x', 7)).toBeUndefined()
    expect(
      sketch
        .toBytes()
        .slice(128)
        .some((byte) => byte > 0),
    ).toBe(false)
    sketch.advance(8 * 1000)
    expect(sketch.culled).toBe(999)
    sketch.clear()
    expect(sketch.culled).toBe(0)
  })

  test('always keeps the units within retainMs', () => {
    const mismatches: unknown[] = []
    for (const blocksPerLevel of [1, 2, 3, 7]) {
      for (let retainMs = 1; retainMs <= 40; retainMs++) {
        const sketch = new HokusaiTime({ ...small, width: 4, depth: 1, retainMs, blocksPerLevel })
        for (let now = 0; now < 130; now++) {
          sketch.add('x', 1, now)
          for (let unit = Math.max(0, now - retainMs); unit <= now; unit++) {
            if (!((sketch.unit('x', unit) ?? 0) >= 1)) mismatches.push({ blocksPerLevel, retainMs, now, unit })
          }
        }
      }
    }
    expect(mismatches).toEqual([])
  })
})

describe('amounts, times and options', () => {
  test.each([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 53])(
    'an amount of %p is rejected, and changes nothing',
    (amount) => {
      const sketch = ticked(5)
      const before = sketch.toBytes()
      expect(codeOf(() => sketch.add('x', amount, 9))).toBe('SLUICE_BAD_AMOUNT')
      expect(sketch.toBytes()).toEqual(before)
    },
  )

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 52 + 1, undefined, 'soon'])(
    'a time of %p is rejected, and changes nothing',
    (now) => {
      const sketch = ticked(5)
      const before = sketch.toBytes()
      expect(codeOf(() => sketch.add('x', 1, now as number))).toBe('SLUICE_BAD_AMOUNT')
      expect(codeOf(() => sketch.advance(now as number))).toBe('SLUICE_BAD_AMOUNT')
      expect(codeOf(() => sketch.last('x', 1, now as number))).toBe('SLUICE_BAD_AMOUNT')
      expect(sketch.toBytes()).toEqual(before)
    },
  )

  test.each([Number.NaN, -1, 0.5])('%p units are rejected', (units) => {
    expect(codeOf(() => ticked(5).last('x', units, 5))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => ticked(5).unit('x', units))).toBe('SLUICE_BAD_AMOUNT')
  })

  test.each([
    [{ width: 3 }],
    [{ width: 0 }],
    [{ width: 2 ** 25 }],
    [{ width: 1.5 }],
    [{ depth: 0 }],
    [{ depth: 33 }],
    [{ unitMs: 0 }],
    [{ unitMs: 0.5 }],
    [{ unitMs: 2 ** 31 + 1 }],
    [{ retainMs: 0 }],
    [{ retainMs: Number.NaN }],
    [{ retainMs: 2 ** 52 }],
    [{ blocksPerLevel: 0 }],
    [{ blocksPerLevel: 65 }],
    [{ width: 2 ** 24, depth: 32 }],
    [{ windowMs: 5 }],
    [{ seed: 5 }],
  ])('the options %p are rejected', (wrong) => {
    const options = { ...small, ...wrong } as HokusaiTimeOptions
    expect(codeOf(() => new HokusaiTime(options))).toBe('SLUICE_BAD_OPTION')
    if (!('seed' in wrong)) expect(codeOf(() => HokusaiTime.bytesFor(options))).toBe('SLUICE_BAD_OPTION')
  })

  test('accepts keys of any kind', () => {
    const sketch = new HokusaiTime({ ...small, width: 4096 })
    const keys = ['', '__proto__', '\ud800', 'x'.repeat(100_000), 7, '7', -0, 2 ** 53, Number.NaN, new Uint8Array(900)]
    keys.forEach((key, n) => {
      sketch.add(key, n + 1, 1)
    })
    sketch.advance(4)
    expect(keys.map((key) => sketch.last(key, 9, 4))).toEqual(keys.map((_, n) => n + 1))
  })

  test('a full cell stays full in every block that contains it', () => {
    const sketch = new HokusaiTime(small)
    const full = 2 ** 32 - 1
    sketch.add('x', 2 ** 53 - 1, 4)
    sketch.add('x', 1, 4)
    expect(sketch.last('x', 0, 4)).toBe(full)
    sketch.add('x', 5, 5)
    sketch.advance(8)
    // [4, 8) without [6, 8): a full cell must not be made smaller by a difference
    expect(sketch.unit('x', 4)).toBe(full)
    for (const units of [3, 4, 7]) expect(sketch.last('x', units, 8)).toBeGreaterThanOrEqual(full)
    sketch.advance(16)
    expect(sketch.last('x', 16, 16)).toBeGreaterThanOrEqual(full)
  })

  test('counts of 2^31 in two blocks do not overflow in their sum', () => {
    const sketch = new HokusaiTime(small)
    for (const now of [0, 1, 2, 3]) sketch.add('x', 2 ** 31, now)
    expect(sketch.last('x', 4, 4)).toBeGreaterThanOrEqual(4 * 2 ** 31)
  })
})
