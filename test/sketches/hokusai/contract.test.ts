import { describe, expect, test } from '@jest/globals'
import { Hokusai, HokusaiItem, type HokusaiOptions, HokusaiTime, SketchSeed } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf, type SketchEvent, sketchContract } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('a seed of sixteen bytes or more')
const tiny: HokusaiOptions = { width: 4, depth: 2, unitMs: 10, retainMs: 40, seed }
const NOW = 95
const keys = ['red', 'blue', 'green', '', '__proto__', 'naïve', '\ud800']

type AnyHokusai = HokusaiTime | HokusaiItem | Hokusai

const feed = (sketch: AnyHokusai, { key, amount }: SketchEvent) => sketch.add(key, amount, NOW)
const others: HokusaiOptions[] = [
  { ...tiny, width: 8 },
  { ...tiny, depth: 3 },
  { ...tiny, unitMs: 20 },
  { ...tiny, retainMs: 30 },
  { ...tiny, seed: 'another seed of sixteen bytes' },
]

const windows = (sketch: HokusaiTime | Hokusai) =>
  keys.map((key) => [0, 1, 3, 4].map((units) => sketch.last(key, units, NOW, 'weighted')))
const units = (sketch: HokusaiItem | Hokusai) =>
  keys.map((key) => [5, 6, 7, 8, 9].map((unit) => sketch.unit(key, unit) ?? 0))

sketchContract('HokusaiTime', {
  make: () => new HokusaiTime(tiny),
  strangers: [
    ...others.map((options) => () => new HokusaiTime(options)),
    () => new HokusaiTime({ ...tiny, blocksPerLevel: 2 }),
  ],
  feed,
  fromBytes: (bytes) => HokusaiTime.fromBytes(bytes, { seed }),
  answers: windows,
  mergesExactly: true,
  idempotent: false,
})

sketchContract('HokusaiItem', {
  make: () => new HokusaiItem(tiny),
  strangers: others.map((options) => () => new HokusaiItem(options)),
  feed,
  fromBytes: (bytes) => HokusaiItem.fromBytes(bytes, { seed }),
  answers: units,
  mergesExactly: true,
  idempotent: false,
})

sketchContract('Hokusai', {
  make: () => new Hokusai(tiny),
  strangers: others.map((options) => () => new Hokusai(options)),
  feed,
  fromBytes: (bytes) => Hokusai.fromBytes(bytes, { seed }),
  answers: (sketch: Hokusai) => [windows(sketch), units(sketch), keys.map((key) => sketch.interpolated(key, 7) ?? 0)],
  mergesExactly: true,
  idempotent: false,
})

describe.each<[string, (options: HokusaiOptions) => AnyHokusai]>([
  ['HokusaiTime', (options) => new HokusaiTime(options)],
  ['HokusaiItem', (options) => new HokusaiItem(options)],
  ['Hokusai', (options) => new Hokusai(options)],
])('%s over time', (_name, make) => {
  const merge = (into: AnyHokusai, other: AnyHokusai) => (into as HokusaiTime).merge(other as HokusaiTime)

  test('merging two sketches equals one sketch that was fed both, whichever of them is later in time', async () => {
    await eachSeed(60, (random) => {
      const parts = [make({ ...tiny, width: 16, retainMs: 160 }), make({ ...tiny, width: 16, retainMs: 160 })]
      const whole = make({ ...tiny, width: 16, retainMs: 160 })
      let now = random.whole(1000)
      for (let event = 0; event < 60; event++) {
        now += random.pick([0, 0, 1, 5, 10, 10, 40, random.whole(400)])
        const [key, amount] = [random.whole(30), random.whole(4)]
        whole.add(key, amount, now)
        random.pick(parts).add(key, amount, now)
      }
      const [mine, other] = parts
      const before = other.toBytes()
      merge(mine, other)
      expect(Buffer.compare(other.toBytes(), before)).toBe(0)
      expect(Buffer.compare(mine.toBytes(), whole.toBytes())).toBe(0)
      expect(mine.culled).toBe(whole.culled)
    })
  })

  test('merging with itself doubles the counts', () => {
    const sketch = make(tiny)
    for (const now of [0, 5, 12, 30]) sketch.add('x', 2, now)
    const twice = make(tiny)
    for (const now of [0, 5, 12, 30]) twice.add('x', 4, now)
    merge(sketch, sketch)
    expect(sketch.toBytes()).toEqual(twice.toBytes())
  })

  test('merging an empty sketch only advances the time', () => {
    const sketch = make(tiny)
    sketch.add('x', 2, 5)
    const empty = make(tiny)
    empty.advance(25)
    merge(sketch, empty)
    expect(sketch.running).toBe(2)
    merge(sketch, make(tiny))
    expect(sketch.running).toBe(2)
    expect(sketch.unit('x', 0)).toBe(2)
  })

  test.each([
    ['a time before the first', 32, -1],
    ['half a unit', 32, 0.5],
    ['an invalid time', 32, Number.NaN],
    ['a time that is too late', 32, 2 ** 52],
    ['a first count later than the last', 40, 99],
    ['a first count before the earliest time', 40, -3],
    ['an invalid total', 64, Number.NaN],
    ['a negative total', 64, -1],
    ['an infinite total', 64, Number.POSITIVE_INFINITY],
  ])('bytes with %s are rejected', (_what, at, value) => {
    const sketch = make(tiny)
    sketch.add('x', 2, 55)
    const bytes = sketch.toBytes()
    new DataView(bytes.buffer).setFloat64(at, value, true)
    const Kind = sketch.constructor as typeof HokusaiTime
    expect(codeOf(() => Kind.fromBytes(bytes, { seed }))).toBe('SLUICE_BAD_BYTES')
  })

  test.each([
    ['no columns', 16, 0],
    ['a width that is not a power of two', 16, 3],
    ['no rows', 20, 0x100],
    ['33 rows', 20, 0x121],
    ['no blocks', 20, 2],
    ['65 blocks a level', 20, 2 | (65 << 8)],
    ['no unit', 24, 0],
    ['nothing kept', 28, 0],
    ['more kept units than have passed', 28, 2 ** 32 - 1],
  ])('bytes with %s are rejected', (_what, at, word) => {
    const bytes = make(tiny).toBytes()
    new DataView(bytes.buffer).setUint32(at, word, true)
    const Kind = make(tiny).constructor as typeof HokusaiTime
    expect(codeOf(() => Kind.fromBytes(bytes, { seed }))).toBe('SLUICE_BAD_BYTES')
  })
})
