import { describe, expect, test } from '@jest/globals'
import { Hokusai, HokusaiItem, type HokusaiOptions, HokusaiTime } from '@sluice/sketches'
import { eachSeed, type SeededRandom, uniformKeys, zipfKeys } from '@sluice/testkit'

const UNITS = 70
const KEYS = 400
const options: Omit<HokusaiOptions, 'seed'> = { width: 128, depth: 3, unitMs: 1, retainMs: 64 }
/** With three rows, e^-3 of the keys may exceed a bound. */
const MAY_FAIL = Math.exp(-3)

type Stream = (random: SeededRandom, unit: number) => readonly number[]

function drawn(count: number, draw: () => number): number[] {
  return Array.from({ length: count }, draw)
}

const streams: [string, (random: SeededRandom) => Stream][] = [
  [
    'Zipf',
    (random) => {
      const key = zipfKeys(random, KEYS)
      return () => drawn(300, key)
    },
  ],
  [
    'uniform',
    (random) => {
      const key = uniformKeys(random, KEYS)
      return () => drawn(300, key)
    },
  ],
  ['bursty', (random) => (_, unit) => drawn(unit % 9 === 0 ? 2000 : 20, () => (unit + random.whole(7) ** 3) % KEYS)],
]

describe.each(streams)('a %s stream', (_name, make) => {
  test('keeps every promised error bound', async () => {
    await eachSeed(3, (random, seed) => {
      const drawUnit = make(random)
      const sized = { ...options, seed: `sketches of the test seed ${seed}` }
      const [time, item, joint] = [new HokusaiTime(sized), new HokusaiItem(sized), new Hokusai(sized)]
      const exact = Array.from({ length: UNITS + 1 }, () => new Float64Array(KEYS))
      for (let unit = 0; unit <= UNITS; unit++) {
        for (const key of drawUnit(random, unit)) {
          exact[unit][key]++
          for (const sketch of [time, item, joint]) sketch.add(key, 1, unit)
        }
      }
      expect(windowErrors(time, exact)).toEqual({ under: 0, tooFar: [] })
      expect(unitErrors(item, exact)).toEqual({ under: 0, tooFar: [] })
      expect(unitErrors(joint, exact)).toEqual({ under: 0, tooFar: [] })
      expect(interpolationWorsens(joint, exact)).toBe(false)
    })
  })
})

/**
 * Errors of windows that begin at the start of a block: at most e · N / 128 too large, where N is the count of the
 * window.
 */
function windowErrors(sketch: HokusaiTime, exact: readonly Float64Array[]) {
  const found = { under: 0, tooFar: [] as unknown[] }
  for (const { from } of sketch.blocks()) {
    const truth = new Float64Array(KEYS)
    for (let unit = from; unit <= UNITS; unit++) for (let key = 0; key < KEYS; key++) truth[key] += exact[unit][key]
    const total = truth.reduce((sum, count) => sum + count, 0)
    let failed = 0
    for (let key = 0; key < KEYS; key++) {
      const error = sketch.last(key, UNITS - from, UNITS) - truth[key]
      if (error < 0) found.under++
      if (error > (Math.E * total) / 128) failed++
    }
    if (failed > MAY_FAIL * KEYS) found.tooFar.push({ from, failed })
  }
  return found
}

/** Errors of a unit of age a: at most e · N · 2^floor(log2 a) / 128 too large, where N is the count of the unit. */
function unitErrors(sketch: HokusaiItem | Hokusai, exact: readonly Float64Array[]) {
  const found = { under: 0, tooFar: [] as unknown[] }
  for (let age = 0; age <= 64; age++) {
    const truth = exact[UNITS - age]
    const total = truth.reduce((sum, count) => sum + count, 0)
    const bound = (Math.E * total * 2 ** Math.floor(Math.log2(Math.max(1, age)))) / 128
    let failed = 0
    for (let key = 0; key < KEYS; key++) {
      const error = (sketch.unit(key, UNITS - age) as number) - truth[key]
      if (error < 0) found.under++
      if (error > bound) failed++
    }
    if (failed > MAY_FAIL * KEYS) found.tooFar.push({ age, failed })
  }
  return found
}

/** Whether interpolation has a larger error than the direct answer, over all keys and units. */
function interpolationWorsens(sketch: Hokusai, exact: readonly Float64Array[]): boolean {
  let direct = 0
  let interpolated = 0
  for (let unit = UNITS - 64; unit < UNITS; unit++) {
    for (let key = 0; key < KEYS; key += 3) {
      direct += Math.abs((sketch.unit(key, unit) as number) - exact[unit][key])
      interpolated += Math.abs((sketch.interpolated(key, unit) as number) - exact[unit][key])
    }
  }
  return interpolated > direct
}
