import { describe, expect, test } from '@jest/globals'
import { CountMin, CountRange, type SketchKey } from '@sluice/sketches'
import { eachSeed, type SeededRandom, uniformKeys, zipfKeys } from '@sluice/testkit'

const EVENTS = 10_000
const KEYS = 2_000
const SEEDS = 5

/** The exact count of each key. */
type Stream = Map<SketchKey, number>

function drawn(draw: () => SketchKey): Stream {
  const stream: Stream = new Map()
  for (let n = 0; n < EVENTS; n++) {
    const key = draw()
    stream.set(key, (stream.get(key) ?? 0) + 1)
  }
  return stream
}

function equal(keyAt: (n: number) => SketchKey): Stream {
  return new Map(Array.from({ length: KEYS }, (_, n) => [keyAt(n), EVENTS / KEYS]))
}

/** Forges keys that collide with `victim` in all rows of a sketch whose seed the attacker chose. */
function forged(victim: string, random: SeededRandom): Stream {
  const own = new CountMin({ width: 8, depth: 3, seed: `the seed of an attacker ${random.whole(2 ** 32)}` })
  own.add(victim)
  const keys: string[] = [victim]
  for (let n = 0; keys.length < 200; n++) if (own.estimate(`forged ${n}`) > 0) keys.push(`forged ${n}`)
  return new Map(keys.map((key) => [key, EVENTS / 200]))
}

/** Returns texts of 125 characters of 16 bits in which a single bit is set. */
const oneBitApart = equal((n) =>
  String.fromCharCode(...Array.from({ length: KEYS / 16 }, (_, i) => (i === n >> 4 ? 1 << (n & 15) : 0))),
)

const streams: Readonly<Record<string, (random: SeededRandom) => Stream>> = {
  Zipf: (random) => drawn(zipfKeys(random, KEYS)),
  uniform: (random) => drawn(uniformKeys(random, KEYS)),
  'consecutive integers': () => equal((n) => n),
  'integers far apart': () => equal((n) => n * 2 ** 32),
  'consecutive texts': () => equal((n) => `user-${n}`),
  'keys that differ in one bit': () => oneBitApart,
  'one key that is half of the stream': () => new Map([...equal((n) => n), ['heavy', EVENTS]]),
  'keys forged under another seed': (random) => forged('victim', random),
}

const sizes: Readonly<Record<string, (seed: string) => CountMin>> = {
  '272 x 3, from an error': (seed) => CountMin.fromError(0.01, 0.05, { seed }),
  '272 x 3, conservative': (seed) => CountMin.fromError(0.01, 0.05, { seed, conservative: true }),
  '256 x 4, pieces of the hash': (seed) => new CountMin({ width: 256, depth: 4, seed }),
  '256 x 5, double hashing': (seed) => new CountMin({ width: 256, depth: 5, seed }),
}

describe.each(Object.entries(streams))('over a stream of %s', (_, stream) => {
  test.each(Object.entries(sizes))('estimates of %s keep the promised error', async (_, make) => {
    let asked = 0
    let wrong = 0
    let delta = 1
    await eachSeed(SEEDS, (random, seed) => {
      const counts = stream(random)
      const sketch = make(`error promise, seed ${seed}`)
      for (const [key, count] of counts) sketch.add(key, count)
      const most = sketch.epsilon * sketch.total
      for (const [key, count] of counts) {
        const error = sketch.estimate(key) - count
        if (error < 0) throw new Error(`${String(key)}: too small by ${-error}`)
        asked++
        if (error > most) wrong++
      }
      delta = sketch.delta
    })
    expect(wrong / asked).toBeLessThanOrEqual(delta)
  })
})

describe('two given keys collide in all rows with probability width^-depth', () => {
  test.each([
    [16, 2],
    [8, 3],
    [4, 4],
    [4, 5],
    [11, 2],
    [7, 3],
  ])('in rows of %i cells, %i of them', async (width, depth) => {
    let tries = 0
    let met = 0
    await eachSeed(100, (random, seed) => {
      const sketch = new CountMin({ width, depth, seed: `two given keys, seed ${seed}` })
      const first = random.whole(2 ** 31)
      sketch.add(first)
      for (let n = 1; n <= 4_000; n++) if (sketch.estimate(first + n) > 0) met++
      tries += 4_000
    })
    const chance = width ** -depth
    expect(Math.abs(met / tries - chance)).toBeLessThan(5 * Math.sqrt(chance / tries))
  })
})

test('range counts keep the promised error', async () => {
  let wrong = 0
  await eachSeed(SEEDS, (random, seed) => {
    const sketch = new CountRange({ bits: 32, width: 1_024, depth: 4, seed: `error promise of ranges, seed ${seed}` })
    const keys = Array.from({ length: EVENTS }, () => Math.floor(2 ** 32 * random.next() ** 4))
    for (const key of keys) sketch.add(key)
    for (let n = 0; n < 50; n++) {
      const [low, high] = [random.whole(2 ** 32), random.whole(2 ** 32)].sort((a, b) => a - b)
      const error = sketch.range(low, high) - keys.filter((key) => key >= low && key <= high).length
      if (error < 0) throw new Error(`${low} to ${high}: too small by ${-error}`)
      if (error > sketch.epsilon * EVENTS) wrong++
    }
  })
  // 2 L e^-depth is 0.73 for 20 depths that are not exact: a union bound, far above the real failure rate
  expect(wrong / (50 * SEEDS)).toBeLessThanOrEqual(0.02)
})
