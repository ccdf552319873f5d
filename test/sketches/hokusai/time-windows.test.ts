import { describe, expect, test } from '@jest/globals'
import { HokusaiTime, type HokusaiTimeOptions } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf } from '../contract/sketch-contract.ts'
import { boundariesOf } from './block-boundaries.ts'

const seed = 'a seed of sixteen bytes or more'
// 4 x 1024 cells for three keys: no key shares all of its cells
const roomy: HokusaiTimeOptions = { width: 1024, depth: 4, unitMs: 1, retainMs: 300, seed }

describe.each([
  [1, 300],
  [2, 150],
  [5, 150],
])('windows over %i blocks a level, for every T and n up to %i', (blocksPerLevel, most) => {
  const sketch = new HokusaiTime({ ...roomy, blocksPerLevel })
  const sums: number[] = [0]
  const wrong: Record<string, unknown[]> = { whole: [], none: [], weighted: [], exact: [], far: [] }
  let exact = 0
  for (let T = 0; T <= most; T++) {
    const amount = (T * 7919) % 13
    sketch.add('x', amount, T)
    sketch.add('y', 3, T)
    sums.push(sums[T] + amount)
    const boundaries = boundariesOf(sketch.blocks(), T)
    for (let n = 0; n <= T; n++) {
      const first = T - n
      const truth = sums[T + 1] - sums[first]
      const at = boundaries.findLastIndex((boundary) => boundary <= first)
      const begins = boundaries[at]
      const ends = begins === first ? first : boundaries[at + 1]
      const whole = sums[T + 1] - sums[begins]
      const none = sums[T + 1] - sums[ends]
      const found = { T, n, truth }
      if (sketch.last('x', n, T) !== whole || whole < truth) wrong.whole.push(found)
      if (sketch.last('x', n, T, 'none') !== none || none > truth) wrong.none.push(found)
      const share = begins === first ? 0 : ((whole - none) * (ends - first)) / (ends - begins)
      if (Math.abs(sketch.last('x', n, T, 'weighted') - none - share) > 1e-9) wrong.weighted.push(found)
      if (begins === first) {
        exact++
        for (const partial of ['whole', 'weighted', 'none'] as const) {
          if (sketch.last('x', n, T, partial) !== truth) wrong.exact.push({ ...found, partial })
        }
      }
      if (first - begins > (2 * n) / blocksPerLevel) wrong.far.push({ ...found, begins })
    }
  }

  test('whole: never too small, and cut blocks are counted once', () => expect(wrong.whole).toEqual([]))
  test('none: without cut blocks, never too large', () => expect(wrong.none).toEqual([]))
  test('weighted: cut blocks count by their share of units inside', () => expect(wrong.weighted).toEqual([]))
  test('windows that begin at the start of a block are exact', () => {
    expect(wrong.exact).toEqual([])
    expect(exact).toBeGreaterThan(1000)
  })
  test('whole: windows begin too early by at most 2 n / blocks', () => expect(wrong.far).toEqual([]))
})

test('no counts are spread over the time before the first count', () => {
  const sketch = new HokusaiTime(roomy)
  for (const unit of [1001, 1002, 1003]) sketch.add('x', 5, unit)
  sketch.advance(1004)
  // block [1000, 1002) has counts of unit 1001 alone
  for (const partial of ['whole', 'weighted', 'none'] as const) expect(sketch.last('x', 3, 1004, partial)).toBe(15)
  expect([sketch.unit('x', 1000), sketch.unit('x', 1001, 'weighted')]).toEqual([0, 5])
})

describe('the block of a unit', () => {
  test('contains it, for each of the 2,080 pairs of T and u up to 64', () => {
    const sketch = new HokusaiTime({ ...roomy, retainMs: 64 })
    let pairs = 0
    let naive = 0
    const wrong: unknown[] = []
    for (let T = 1; T <= 64; T++) {
      sketch.add('x', T, T - 1)
      sketch.advance(T)
      for (let unit = 0; unit < T; unit++) {
        pairs++
        // the smallest j with T - δ - 2^j <= u < T - δ, without what block j - 1 covers
        const level = [0, 1, 2, 3, 4, 5, 6].findIndex((j) => holds(T, j, unit)) as number
        const boundaries = boundariesOf(sketch.blocks(), T)
        const at = boundaries.findLastIndex((boundary) => boundary <= unit)
        const [from, to] = boundaries.slice(at, at + 2)
        const sum = (to * (to + 1) - from * (from + 1)) / 2
        const inBlock = holds(T, level, from) && holds(T, level, to - 1)
        if (!inBlock || sketch.unit('x', unit) !== sum) wrong.push({ T, unit, level })
        if (Math.abs((sketch.unit('x', unit, 'weighted') as number) - sum / (to - from)) > 1e-9) wrong.push({ T, unit })
        if (sketch.unit('x', unit, 'none') !== (to - from === 1 ? sum : 0)) wrong.push({ T, unit, none: true })
        if (!holds(T, Math.floor(Math.log2(T - unit)), unit)) naive++
      }
    }
    expect(wrong).toEqual([])
    // floor(log2 age), the commonly stated rule, would select another block
    expect({ pairs, naive }).toEqual({ pairs: 2080, naive: 579 })
  })
})

function holds(T: number, level: number, unit: number): boolean {
  const end = T - (T % 2 ** level)
  return end - 2 ** level <= unit && unit < end
}

describe('windows in ms', () => {
  const options = { ...roomy, unitMs: 10, retainMs: 1000 }

  test('include every event younger than their length, at any ms', async () => {
    await eachSeed(30, (random) => {
      const blocksPerLevel = 1 + random.whole(4)
      const sketch = new HokusaiTime({ ...options, blocksPerLevel })
      const events: { at: number; amount: number }[] = []
      for (let now = random.whole(500), turn = 0; turn < 150; turn++, now += random.whole(25)) {
        const amount = 1 + random.whole(4)
        sketch.add('x', amount, now)
        events.push({ at: now, amount })
        const windowMs = 1 + random.whole(1000)
        const between = (since: number) => events.filter(({ at }) => at > since).reduce((sum, e) => sum + e.amount, 0)
        sketch.aim('x')
        const found = sketch.aimedWindow(windowMs, now)
        expect(found).toBeGreaterThanOrEqual(between(now - windowMs))
        // a unit at the start may be included because of a single ms, and blocks begin too early as described above
        expect(found).toBeLessThanOrEqual(between(now - windowMs - 10 - (2 * (windowMs + 10)) / blocksPerLevel))
      }
    })
  })

  test('longer than the retention are rejected, since their start is no longer known', () => {
    const sketch = new HokusaiTime({ ...options, retainMs: 995 })
    sketch.aim('x')
    expect(sketch.aimedWindow(1000, 5)).toBe(0)
    expect(codeOf(() => sketch.aimedWindow(1001, 5))).toBe('SLUICE_SKETCH_UNSUPPORTED')
    expect(codeOf(() => sketch.aimedWaitMs(1, 1001, 5))).toBe('SLUICE_SKETCH_UNSUPPORTED')
    for (const windowMs of [0, -1, Number.NaN]) {
      expect(codeOf(() => sketch.aimedWindow(windowMs, 5))).toBe('SLUICE_BAD_AMOUNT')
    }
  })

  test('use the start of the running unit if the clock steps back', () => {
    const sketch = new HokusaiTime(options)
    sketch.add('x', 4, 75)
    sketch.aim('x')
    expect([sketch.aimedWindow(5, 20), sketch.aimedWindow(5, 79)]).toEqual([4, 4])
  })
})

describe('the wait until a window has room', () => {
  test('ends at the first ms with room, if no other events are counted', async () => {
    await eachSeed(40, (random) => {
      const unitMs = random.pick([1, 4, 10])
      const blocksPerLevel = 1 + random.whole(4)
      const options = { ...roomy, unitMs, retainMs: 60 * unitMs, blocksPerLevel }
      const sketch = new HokusaiTime(options)
      let now = random.whole(300)
      for (let turn = 0; turn < 40; turn++, now += random.whole(3 * unitMs)) sketch.add('x', random.whole(5), now)
      for (let question = 0; question < 12; question++) {
        const windowMs = 1 + random.whole(60 * unitMs)
        sketch.aim('x')
        const most = random.whole(1 + sketch.aimedWindow(windowMs, now))
        const waitMs = sketch.aimedWaitMs(most, windowMs, now)
        expect({ windowMs, most, waitMs }).toEqual({
          windowMs,
          most,
          waitMs: firstFit(sketch, { windowMs, most, now }),
        })
      }
    })
  })

  test('is 0 if there is room, and Infinity for a limit below zero', () => {
    const sketch = new HokusaiTime(roomy)
    sketch.add('x', 3, 10)
    sketch.aim('x')
    expect(sketch.aimedWaitMs(3, 5, 10)).toBe(0)
    expect(sketch.aimedWaitMs(2, 5, 10)).toBeGreaterThan(0)
    for (const most of [-1, Number.NaN]) expect(sketch.aimedWaitMs(most, 5, 10)).toBe(Number.POSITIVE_INFINITY)
  })

  test('is never too short if keys share cells', async () => {
    await eachSeed(30, (random) => {
      const sketch = new HokusaiTime({ ...roomy, width: 4, depth: 2, retainMs: 60 })
      let now = random.whole(300)
      for (let turn = 0; turn < 60; turn++, now += random.whole(3)) sketch.add(random.whole(9), random.whole(5), now)
      sketch.aim(1)
      const most = random.whole(20)
      const waitMs = sketch.aimedWaitMs(most, 30, now)
      sketch.aim(1)
      expect(sketch.aimedWindow(30, now + waitMs)).toBeLessThanOrEqual(most)
    })
  })
})

/** Finds the wait by trying every ms on a copy. */
function firstFit(
  sketch: HokusaiTime,
  { windowMs, most, now }: { windowMs: number; most: number; now: number },
): number {
  const copy = HokusaiTime.fromBytes(sketch.toBytes(), { seed })
  copy.aim('x')
  for (let waitMs = 0; ; waitMs++) if (copy.aimedWindow(windowMs, now + waitMs) <= most) return waitMs
}

describe('the parts of a window', () => {
  test('are written newest first, with the ms at which each ends', () => {
    const sketch = new HokusaiTime({ ...roomy, unitMs: 10, retainMs: 640 })
    expect(sketch.partsFromMs(0)).toBe(0)
    for (let unit = 0; unit <= 8; unit++) sketch.add('x', unit + 1, 10 * unit)
    const parts = new Float64Array(2 * sketch.maxParts)
    sketch.aim('x')
    expect(sketch.aimedParts(parts, 85)).toBe(5)
    expect([...parts.subarray(0, 10)]).toEqual([90, 9, 80, 8, 70, 7, 60, 11, 40, 10])
    expect(sketch.partsFromMs(85)).toBe(0)
  })

  test('begin at the first count if the oldest block began earlier, and otherwise at the start of the oldest block', () => {
    const sketch = new HokusaiTime({ ...roomy, unitMs: 10, retainMs: 640 })
    const parts = new Float64Array(2 * sketch.maxParts)
    sketch.add('x', 1, 75)
    sketch.advance(155)
    sketch.aim('x')
    expect([sketch.aimedParts(parts, 155), sketch.partsFromMs(155)]).toEqual([5, 70])
    sketch.advance(2000)
    // [128, 192) is the oldest block; two blocks of its length were removed
    expect([sketch.partsFromMs(2000), sketch.culled]).toEqual([1280, 2])
  })
})
