import { describe, expect, test } from '@jest/globals'
import { HeavyKeeper, SpaceSaving } from '@sluice/sketches'
import { eachSeed, type SeededRandom, zipfKeys } from '@sluice/testkit'

const KEYS = 100_000
const EVENTS = 100_000
const names = Array.from({ length: KEYS }, (_, n) => `client ${n}`)

interface Stream {
  readonly keys: readonly string[]
  readonly counts: ReadonlyMap<string, number>
  /** Count of the tenth key: every key with at least this count is one of the ten. */
  readonly tenth: number
}

function zipf(random: SeededRandom): Stream {
  const draw = zipfKeys(random, KEYS)
  const keys = Array.from({ length: EVENTS }, () => names[draw()])
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return { keys, counts, tenth: [...counts.values()].sort((a, b) => b - a)[9] }
}

function recallAndError(shown: readonly { key: string; count: number }[], { counts, tenth }: Stream): [number, number] {
  const truth = (key: string): number => counts.get(key) ?? 0
  const found = shown.filter(({ key }) => truth(key) >= tenth).length
  return [found, Math.max(...shown.map(({ key, count }) => Math.abs(count - truth(key)) / truth(key)))]
}

describe('with 100,000 clients, where the n-th is n times as rare as the first', () => {
  test('SpaceSaving finds the first ten with 200 counters, and proves it with 1,000', async () => {
    await eachSeed(2, (random) => {
      const stream = zipf(random)
      const [small, large] = [200, 1_000].map((capacity) => new SpaceSaving({ capacity }))
      for (const key of stream.keys) {
        small.add(key)
        large.add(key)
      }
      const [found, error] = recallAndError(small.top(10), stream)
      expect(found).toBe(10)
      expect(error).toBeLessThan(0.01)
      expect(large.top(10).every(({ guaranteed }) => guaranteed)).toBe(true)
    })
  })

  test('HeavyKeeper finds the first ten with 128 × 3 buckets, each count within one percent', async () => {
    await eachSeed(2, (random, seed) => {
      const stream = zipf(random)
      const sketch = new HeavyKeeper({ k: 10, seed: `a seed of this test ${seed}` })
      expect([sketch.width, sketch.depth, sketch.decay]).toEqual([128, 3, 0.9])
      for (const key of stream.keys) sketch.add(key)
      const [found, error] = recallAndError(sketch.top(), stream)
      expect(found).toBe(10)
      expect(error).toBeLessThan(0.01)
    })
  })

  test('both find the first ten if four nodes counted a quarter each', async () => {
    await eachSeed(1, (random) => {
      const stream = zipf(random)
      const nodes = Array.from({ length: 4 }, () => ({
        saving: new SpaceSaving({ capacity: 400 }),
        keeper: new HeavyKeeper({ k: 20, seed: 'a seed of this test' }),
      }))
      for (const key of stream.keys) {
        const node = random.pick(nodes)
        node.saving.add(key)
        node.keeper.add(key)
      }
      for (const { saving, keeper } of nodes.slice(1)) {
        nodes[0].saving.merge(saving)
        nodes[0].keeper.merge(keeper)
      }
      expect(recallAndError(nodes[0].saving.top(10), stream)[0]).toBe(10)
      expect(recallAndError(nodes[0].keeper.top(10), stream)[0]).toBe(10)
    })
  })
})

test('a flood of keys that occur once does not hide keys from SpaceSaving that occur more often than N/k', () => {
  const sketch = new SpaceSaving({ capacity: 100 })
  let n = 0
  for (let round = 0; round < 1_000; round++) {
    sketch.add('busy')
    for (let flood = 0; flood < 95; flood++) sketch.add(`flood ${n++}`)
  }
  const [first] = sketch.top(1)
  expect(first.key).toBe('busy')
  expect(first.count).toBeGreaterThanOrEqual(1_000)
  expect(first.count - first.error).toBeLessThanOrEqual(1_000)
  expect(first.error).toBeLessThanOrEqual(sketch.total / 100)
})
