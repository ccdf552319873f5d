import { describe, expect, test } from '@jest/globals'
import { HeavyKeeper, type HeavyKeeperOptions, SketchSeed } from '@sluice/sketches'
import { baseSeed, seededRandom } from '@sluice/testkit'
import fc from 'fast-check'
import { codeOf } from '../contract/sketch-contract.ts'
import { exactly } from './exact-counts.ts'

type Event = readonly [key: string, amount: number]

const SEED = new SketchSeed('one seed for all of these tests')
const KEYS = Array.from({ length: 12 }, (_, n) => `key ${n}`)
const stream = fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.integer({ min: 1, max: 9 })), { maxLength: 80 })
/** A shape that is so small that all keys collide. */
const shape = fc.record({
  k: fc.integer({ min: 1, max: 5 }),
  width: fc.integer({ min: 1, max: 6 }),
  depth: fc.integer({ min: 1, max: 5 }),
  decay: fc.constantFrom(0.5, 0.9, 0.999, 1),
})

function fed(options: HeavyKeeperOptions, ...streams: readonly (readonly Event[])[]): HeavyKeeper {
  const sketch = new HeavyKeeper({ seed: SEED, ...options })
  for (const [key, amount] of streams.flat()) sketch.add(key, amount)
  return sketch
}

function expectNeverTooMuch(sketch: HeavyKeeper, events: readonly Event[]): void {
  const truth = exactly(events)
  expect(sketch.total).toBe(truth.total)
  for (const key of KEYS) expect(sketch.estimate(key)).toBeLessThanOrEqual(truth.of(key))
  const shown = sketch.top()
  expect(new Set(shown.map(({ key }) => key)).size).toBe(shown.length)
  for (const { key, count } of shown) expect([key, sketch.estimate(key)]).toEqual([key, count])
}

// state of the generator, in the bytes of a sketch
const STATE_AT = 48

/** Two of the buckets: a shown key owns one, and two other keys share the other. */
function neighbours(): { shown: string; owner: string; stranger: string } {
  const [shown] = KEYS
  // a key whose bucket belongs to a more frequent key has no count
  const apart = KEYS.filter(
    (key) =>
      fed({ k: 1, width: 2, depth: 1, decay: 1 }, [
        [shown, 9],
        [key, 2],
      ]).estimate(key) > 0,
  ).filter((key) => key !== shown)
  const [owner, stranger] = apart
  return { shown, owner, stranger }
}

/** The probability of each count of a new key, computed unit by unit. */
function countChances(held: number, units: number, decay: number): number[] {
  // the remaining count of the owner, or, below 0, the count of the new key
  let chances = new Map([[held, 1]])
  for (let unit = 0; unit < units; unit++) {
    const next = new Map<number, number>()
    const put = (state: number, chance: number): void => void next.set(state, (next.get(state) ?? 0) + chance)
    for (const [state, chance] of chances) {
      if (state < 0) put(state - 1, chance)
      else {
        const hit = decay ** state
        put(state === 1 ? -1 : state - 1, chance * hit)
        put(state, chance * (1 - hit))
      }
    }
    chances = next
  }
  return Array.from({ length: units + 1 }, (_, count) =>
    [...chances].reduce((sum, [state, chance]) => sum + (Math.max(0, -state) === count ? chance : 0), 0),
  )
}

describe('HeavyKeeper', () => {
  test('never counts a key too high, merged or not, and does not list a key twice', () => {
    fc.assert(
      fc.property(shape, stream, stream, stream, (options, a, b, c) => {
        const sketch = fed(options, a)
        expectNeverTooMuch(sketch, a)
        sketch.merge(fed(options, b))
        for (const [key, amount] of c) sketch.add(key, amount)
        expectNeverTooMuch(sketch, [...a, ...b, ...c])
        sketch.merge(sketch)
        expectNeverTooMuch(sketch, [a, b, c, a, b, c].flat())
      }),
      { numRuns: 200 },
    )
  })

  test('counts a key exactly from the moment on that it is listed', () => {
    fc.assert(
      fc.property(shape, stream, (options, events) => {
        const sketch = fed(options, [['shown', 1_000]], events)
        sketch.add('shown', 7)
        expect(sketch.estimate('shown')).toBe(1_007)
        expect(sketch.top(1)).toEqual([{ key: 'shown', count: 1_007 }])
      }),
    )
  })

  test('returns the key that was evicted, and evicts no other key', () => {
    fc.assert(
      fc.property(shape, stream, (options, events) => {
        const sketch = fed(options)
        for (const [key, amount] of events) {
          const before = new Set(sketch.top().map((one) => one.key))
          const expelled = sketch.add(key, amount)
          const after = new Set(sketch.top().map((one) => one.key))
          const lost = [...before].filter((one) => !after.has(one))
          const come = [...after].filter((one) => !before.has(one))
          expect(lost).toEqual(expelled === undefined ? [] : [expelled])
          expect(come.filter((one) => one !== key)).toEqual([])
          if (before.size < sketch.k || before.has(key)) expect(expelled).toBeUndefined()
        }
      }),
    )
  })

  test('gives equal bytes for equal streams under one seed', () => {
    fc.assert(
      fc.property(shape, stream, (options, events) => {
        expect(fed(options, events).toBytes()).toEqual(fed(options, events).toBytes())
      }),
    )
  })

  test('lists the same keys whichever sketch is merged into the other', () => {
    fc.assert(
      fc.property(shape, stream, stream, (options, a, b) => {
        const [ab, ba] = [fed(options, a), fed(options, b)]
        ab.merge(fed(options, b))
        ba.merge(fed(options, a))
        expect(ab.top()).toEqual(ba.top())
        expect(KEYS.map((key) => ab.estimate(key))).toEqual(KEYS.map((key) => ba.estimate(key)))
      }),
    )
  })

  test('finds the most frequent key over all nodes, even if it is not first on any node', () => {
    const nodes = Array.from({ length: 10 }, (_, node) =>
      fed({ k: 3 }, [
        [`busy on ${node}`, 60],
        [`seen on ${node}`, 50],
        ['everywhere', 40],
      ]),
    )
    const fleet = fed({ k: 3 })
    for (const node of nodes) fleet.merge(node)
    expect(fleet.top(1)).toEqual([{ key: 'everywhere', count: 400 }])
  })

  test.each([
    ['one by one', 1],
    ['in one amount', 12],
  ])('a new key takes a bucket with probability decay^n, if its units are added %s', (_, amount) => {
    const [held, units, decay, trials] = [4, 12, 0.8, 4_000]
    const { shown, owner, stranger } = neighbours()
    const start = fed({ k: 1, width: 2, depth: 1, decay }, [
      [shown, 1_000_000],
      [owner, held],
    ]).toBytes()
    const seen = new Float64Array(units + 1)
    const random = seededRandom(baseSeed())
    for (let trial = 0; trial < trials; trial++) {
      new DataView(start.buffer).setFloat64(STATE_AT, random.whole(2 ** 32), true)
      const sketch = HeavyKeeper.fromBytes(start, { seed: SEED })
      for (let come = 0; come < units; come += amount) sketch.add(stranger, amount)
      seen[sketch.estimate(stranger)]++
    }
    for (const [count, chance] of countChances(held, units, decay).entries()) {
      const spread = 5 * Math.sqrt((chance * (1 - chance)) / trials)
      expect(Math.abs(seen[count] / trials - chance)).toBeLessThanOrEqual(spread)
    }
  })

  test('with decay 1, an amount counts like its units one by one', () => {
    fc.assert(
      fc.property(shape, stream, (options, events) => {
        // a listed key stays listed, and the test compares the table
        const start: Event = ['shown', 10_000]
        const units = events.flatMap(([key, amount]) => Array<Event>(amount).fill([key, 1]))
        const plain = { ...options, k: 1, decay: 1 }
        expect(fed(plain, [start], events).toBytes()).toEqual(fed(plain, [start], units).toBytes())
      }),
    )
  })

  test('a key with the same count as the least listed key must be added once more to be listed', () => {
    const sketch = fed({ k: 1 }, [['a', 3]])
    expect([sketch.add('b', 3), sketch.top()]).toEqual([undefined, [{ key: 'a', count: 3 }]])
    expect([sketch.add('b', 1), sketch.top()]).toEqual(['a', [{ key: 'b', count: 4 }]])
  })

  test('rejects wrong options', () => {
    const wrong: unknown[] = [
      { k: 0 },
      { k: 2 ** 20 + 1 },
      { k: 1.5 },
      { k: 1, width: 0 },
      { k: 1, depth: 33 },
      { k: 1, width: 2 ** 24, depth: 2 },
      ...[0, -1, 0.9995, 1.1, Number.NaN, '0.9'].map((decay) => ({ k: 1, decay })),
      { k: 1, seed: 7 },
      { k: 1, rows: 2 },
      undefined,
    ]
    for (const options of wrong) {
      expect([options, codeOf(() => new HeavyKeeper(options as HeavyKeeperOptions))]).toEqual([
        options,
        'SLUICE_BAD_OPTION',
      ])
    }
    expect(codeOf(() => new HeavyKeeper({ k: 1, seed: 'short' }))).toBe('SLUICE_BAD_SEED')
  })

  test('rejects wrong amounts before it changes anything', () => {
    const sketch = fed({ k: 2 }, [['a', 5]])
    const before = sketch.toBytes()
    for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null, 1n]) {
      expect([amount, codeOf(() => sketch.add('c', amount as number))]).toEqual([amount, 'SLUICE_BAD_AMOUNT'])
    }
    expect(codeOf(() => sketch.add('c', Number.MAX_SAFE_INTEGER - 4))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => sketch.merge(fed({ k: 2 }, [['c', Number.MAX_SAFE_INTEGER]])))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => sketch.top(-1))).toBe('SLUICE_BAD_AMOUNT')
    for (const none of [0, -0]) expect(sketch.add('c', none)).toBeUndefined()
    expect(sketch.toBytes()).toEqual(before)
  })
})

describe('HeavyKeeper rejects inconsistent bytes', () => {
  // with two buckets: fingerprints at 64, counts at 72; with two keys: counts at 80, lengths at 96, characters at 104
  const honest = (): DataView => {
    const events: Event[] = [
      ['a', 5],
      ['b', 2],
    ]
    return new DataView(fed({ k: 2, width: 2, depth: 1 }, events).toBytes().buffer)
  }
  const changes: Record<string, (view: DataView) => void> = {
    'a total below its counts': (view) => view.setFloat64(32, 4, true),
    'an infinite total': (view) => view.setFloat64(32, Number.POSITIVE_INFINITY, true),
    'a decay out of range': (view) => view.setFloat64(40, 1.5, true),
    'an invalid generator state': (view) => view.setFloat64(48, 2 ** 32, true),
    'more keys than k': (view) => view.setFloat64(56, 3, true),
    'fewer keys than their bytes': (view) => view.setFloat64(56, 1, true),
    'keys that are not numbers': (view) => view.setFloat64(56, Number.NaN, true),
    'a bucket above the total': (view) => view.setUint32(72, 8, true),
    'a key of count 0': (view) => view.setFloat64(80, 0, true),
    'a key above the total': (view) => view.setFloat64(88, 8, true),
    'one key twice': (view) => view.setUint8(104, view.getUint8(105)),
    'a key longer than the maximum': (view) => view.setUint32(96, 257, true),
  }
  test.each(Object.entries(changes))('%s', (_, change) => {
    const view = honest()
    const read = (): string => codeOf(() => HeavyKeeper.fromBytes(new Uint8Array(view.buffer), { seed: SEED }))
    expect(read()).toBe('nothing')
    change(view)
    expect(read()).toBe('SLUICE_BAD_BYTES')
  })
})
