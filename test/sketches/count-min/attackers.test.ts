import { describe, expect, test } from '@jest/globals'
import { CountMin } from '@sluice/sketches'

const victim = '198.51.100.7'

/**
 * Finds keys by trial that collide with the victim in all rows of `sketch`. This is what an attacker with the seed can
 * do.
 */
function forgeries(sketch: CountMin, count: number): string[] {
  const keys: string[] = []
  sketch.clear()
  sketch.add(victim)
  for (let n = 0; keys.length < count; n++) {
    const key = `203.0.${n}`
    if (sketch.estimate(key) > 0) keys.push(key)
  }
  return keys
}

describe('an attacker who has the seed', () => {
  test('can raise the count of the victim at will, with keys found in less than a second', () => {
    const options = { width: 64, depth: 3, seed: 'a seed that leaked out' }
    const keys = forgeries(new CountMin(options), 3)
    const sketch = new CountMin(options)
    for (const key of keys) sketch.add(key, 1_000)
    expect(sketch.estimate(victim)).toBe(3_000)
  })
})

describe('an attacker who has the code but not the seed', () => {
  const shape = { width: 16, depth: 2 }
  const chance = 1 / 16 ** 2
  const own = forgeries(new CountMin({ ...shape, seed: 'the seed of an attacker' }), 200)
  const seeds = 500
  const hits = (keys: readonly string[]): number => {
    let hits = 0
    for (let n = 0; n < seeds; n++) {
      const sketch = new CountMin({ ...shape, seed: `a seed that nobody knows ${n}` })
      sketch.add(victim)
      hits += keys.filter((key) => sketch.estimate(key) > 0).length
    }
    return hits / (seeds * keys.length)
  }

  test('collides with the victim no more often with forged keys than by chance', () => {
    // five standard deviations of 100,000 tries
    expect(Math.abs(hits(own) - chance)).toBeLessThan(5 * Math.sqrt(chance / (seeds * own.length)))
  })

  test('gains nothing from keys that collide under many seeds', () => {
    const many = Array.from({ length: 20 }, (_, n) => new CountMin({ ...shape, seed: `guessed seed number ${n}` }))
    for (const sketch of many) sketch.add(victim)
    const ranked = Array.from({ length: 20_000 }, (_, n) => `203.0.${n}`)
      .map((key) => ({ key, met: many.filter((sketch) => sketch.estimate(key) > 0).length }))
      .sort((a, b) => b.met - a.met)
    const best = ranked.slice(0, 200)
    expect(best[199].met).toBeGreaterThan(0)
    const rate = hits(best.map(({ key }) => key))
    expect(Math.abs(rate - chance)).toBeLessThan(5 * Math.sqrt(chance / (seeds * best.length)))
  })
})

test('a sketch without a seed uses the random seed of its process, which all its sketches share', () => {
  const [one, other] = [new CountMin({ width: 64, depth: 3 }), new CountMin({ width: 64, depth: 3 })]
  one.add(victim)
  other.merge(one)
  expect(other.estimate(victim)).toBe(1)
})
