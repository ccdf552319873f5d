import { describe, expect, test } from '@jest/globals'
import { HeavyKeeper, SpaceSaving } from '@sluice/sketches'
import { eachSeed, zipfKeys } from '@sluice/testkit'
import { exactly } from './exact-counts.ts'
import { HeapOfEveryCount } from './heap-of-every-count.ts'

interface Contender {
  add(key: string): unknown
}

function feed<C extends Contender>(contender: C, keys: readonly string[]): C {
  for (const key of keys) contender.add(key)
  return contender
}

const shown = (sketch: SpaceSaving | HeavyKeeper, n: number): string[] => sketch.top(n).map(({ key }) => key)

describe('a key that is added again keeps a single entry', () => {
  const stream = [...Array<string>(10).fill('first'), ...Array<string>(8).fill('second'), 'third']

  test('a heap with an entry for every count loses the second of two keys', () => {
    const tracker = feed(new HeapOfEveryCount(2), stream)
    expect(tracker.top()).toEqual(['first', 'first'])
    // an old entry of the first key was evicted, and the mark that the key is listed was removed with it
    expect(tracker.shown.has('first')).toBe(false)
    expect(tracker.entries).toBeGreaterThan(2)
  })

  test('SpaceSaving and HeavyKeeper list both', () => {
    expect(shown(feed(new SpaceSaving({ capacity: 3 }), stream), 2)).toEqual(['first', 'second'])
    expect(shown(feed(new HeavyKeeper({ k: 2, seed: 'a seed of this test' }), stream), 2)).toEqual(['first', 'second'])
  })

  test('on a skewed stream that heap lists one key in all of its places, while both sketches list the most frequent keys', async () => {
    await eachSeed(3, (random) => {
      const draw = zipfKeys(random, 1_000, 1.2)
      const keys = Array.from({ length: 4_000 }, () => `client ${draw()}`)
      const truth = exactly(keys.map((key) => [key, 1] as const)).top(5)
      expect(new Set(feed(new HeapOfEveryCount(5), keys).top()).size).toBe(1)
      expect(shown(feed(new SpaceSaving({ capacity: 200 }), keys), 5)).toEqual(truth)
      expect(shown(feed(new HeavyKeeper({ k: 5, seed: 'a seed of this test' }), keys), 5)).toEqual(truth)
    })
  })
})
