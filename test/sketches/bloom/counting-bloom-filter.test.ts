import { describe, expect, test } from '@jest/globals'
import { CountingBloomFilter, SketchSeed } from '@sluice/sketches'
import fc from 'fast-check'

const seed = new SketchSeed('a seed that the tests know')
const small = (): CountingBloomFilter => new CountingBloomFilter({ capacity: 20, errorRate: 0.001, seed })

const deeds = fc.array(fc.record({ key: fc.nat(40), adds: fc.boolean() }), { maxLength: 300 })

describe('removing from a counting Bloom filter', () => {
  test('never makes a key absent that was added more often than removed', () => {
    fc.assert(
      fc.property(deeds, (run) => {
        const filter = small()
        const times = new Map<number, number>()
        for (const { key, adds } of run) {
          const before = times.get(key) ?? 0
          if (adds) filter.add(key)
          else if (before > 0) expect(filter.remove(key)).toBe(true)
          else continue
          times.set(key, before + (adds ? 1 : -1))
          for (const [other, count] of times) if (count > 0) expect(filter.has(other)).toBe(true)
        }
      }),
    )
  })

  test('restores the bytes of a filter with only the remaining keys, if no counter was full', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(10_000), { maxLength: 60 }), fc.nat(60), (keys, split) => {
        const [all, rest] = [small(), small()]
        for (const key of keys) all.add(key)
        for (const key of keys.slice(0, split)) all.remove(key)
        for (const key of keys.slice(split)) rest.add(key)
        expect(all.toBytes()).toEqual(rest.toBytes())
        expect(all.size).toBe(rest.size)
      }),
    )
  })

  test('empties the filter, even for keys that map to one counter twice', () => {
    const empty = small().toBytes()
    const filter = small()
    for (let key = 0; key < 2000; key++) {
      filter.add(key)
      expect(filter.remove(key)).toBe(true)
      expect(filter.has(key)).toBe(false)
    }
    expect(filter.toBytes()).toEqual(empty)
    expect(filter.size).toBe(0)
  })

  test('returns false and changes nothing if the key is absent', () => {
    const filter = small()
    for (let key = 0; key < 30; key++) filter.add(key)
    const [before, size] = [filter.toBytes(), filter.size]
    let refused = 0
    for (let key = 1000; key < 6000; key++) {
      if (filter.has(key)) continue
      expect(filter.remove(key)).toBe(false)
      refused++
    }
    expect(refused).toBeGreaterThan(4000)
    expect(filter.toBytes()).toEqual(before)
    expect(filter.size).toBe(size)
  })
})

describe('a full counter of a counting Bloom filter', () => {
  const times = (count: number, run: () => void): void => {
    for (let n = 0; n < count; n++) run()
  }

  test('counts exactly up to 14', () => {
    const filter = new CountingBloomFilter({ capacity: 1000, seed })
    times(14, () => filter.add('red'))
    times(13, () => expect(filter.remove('red')).toBe(true))
    expect(filter.has('red')).toBe(true)
    expect(filter.remove('red')).toBe(true)
    expect(filter.has('red')).toBe(false)
  })

  test.each([15, 16, 40])('stays full: a key added %i times can no longer be removed', (count) => {
    const filter = new CountingBloomFilter({ capacity: 1000, seed })
    times(count, () => filter.add('red'))
    times(100, () => expect(filter.remove('red')).toBe(true))
    expect(filter.has('red')).toBe(true)
  })

  test('does not overflow into its neighbours', () => {
    const filter = new CountingBloomFilter({ capacity: 1000, seed })
    times(20, () => filter.add('red'))
    expect(filter.size).toBeCloseTo(1, 1)
    const nibbles = [...filter.toBytes().subarray(64)].flatMap((byte) => [byte & 15, byte >> 4]).filter(Boolean)
    expect(nibbles).toEqual(Array(filter.hashes).fill(15))
  })

  test('can also result from a merge', () => {
    const parts = [10, 10].map((count) => {
      const filter = new CountingBloomFilter({ capacity: 1000, seed })
      times(count, () => filter.add('red'))
      return filter
    })
    parts[0].merge(parts[1])
    times(40, () => parts[0].remove('red'))
    expect(parts[0].has('red')).toBe(true)
  })
})
