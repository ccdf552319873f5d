import { expect, test } from '@jest/globals'
import { HeavyKeeper } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'

// with decay 1 nothing is random; the buckets of keys still depend on the seed, and with them whether "bar" keeps a
// bucket
const shape = { k: 3, width: 10, depth: 3, decay: 1 }

function answers(seed: string): { expelled: (string | undefined)[][]; counts: number[]; top: string[] } {
  const sketch = new HeavyKeeper({ ...shape, seed })
  const incrby = (...amounts: readonly (readonly [string, number])[]): (string | undefined)[] =>
    amounts.map(([key, amount]) => sketch.add(key, amount))
  return {
    expelled: [incrby(['bar', 3], ['baz', 6], ['42', 2]), incrby(['42', 8], ['xyzzy', 4])],
    counts: ['bar', 'baz', '42', 'xyzzy', '4'].map((key) => sketch.estimate(key)),
    top: sketch.top().map(({ key }) => key),
  }
}

test('gives the answers that the tests of RedisBloom expect of TOPK.INCRBY, COUNT and LIST', () => {
  expect(answers('a seed of these answers')).toEqual({
    expelled: [
      [undefined, undefined, undefined],
      [undefined, 'bar'],
    ],
    counts: [3, 6, 10, 4, 0],
    top: ['42', 'baz', 'xyzzy'],
  })
})

test('gives the same answers under every seed, except the remaining count of "bar", which is no longer listed', async () => {
  await eachSeed(200, (_, seed) => {
    const { expelled, counts, top } = answers(`a seed of these answers ${seed}`)
    expect(expelled[1]).toEqual([undefined, 'bar'])
    expect(counts.slice(1)).toEqual([6, 10, 4, 0])
    expect(counts[0]).toBeLessThanOrEqual(3)
    expect(top).toEqual(['42', 'baz', 'xyzzy'])
  })
})
