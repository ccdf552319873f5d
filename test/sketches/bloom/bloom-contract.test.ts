import { describe, expect, test } from '@jest/globals'
import { BlockedBloomFilter, BloomFilter, CountingBloomFilter, SketchSeed } from '@sluice/sketches'
import { codeOf, type SketchEvent, sketchContract } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('one seed for all of them')
const other = new SketchSeed('and another one for strangers')
// 512 cells and many hashes: the keys of a run fill a third of the cells
const options = { capacity: 20, errorRate: 0.001, seed }
const asked = ['red', 'blue', 'green', '', '__proto__', 'naïve', '\ud800', 7, -1, 'never', ...Array(20).keys()]

interface Filter {
  has(key: string | number): boolean
  readonly size: number
  readonly falsePositiveRate: number
  readonly statedRate: number
}

const answers = (filter: Filter): unknown => [
  asked.map((key) => filter.has(key)),
  filter.size,
  filter.falsePositiveRate,
  filter.statedRate,
]

sketchContract<BloomFilter>('BloomFilter', {
  make: () => new BloomFilter(options),
  strangers: [
    () => new BloomFilter({ ...options, capacity: 200 }),
    () => new BloomFilter({ ...options, errorRate: 0.0001 }),
    () => new BloomFilter({ ...options, seed: other }),
    () => new CountingBloomFilter(options) as unknown as BloomFilter,
    () => undefined as unknown as BloomFilter,
  ],
  feed: (filter, { key }) => filter.add(key),
  fromBytes: (bytes) => BloomFilter.fromBytes(bytes, { seed }),
  answers,
  mergesExactly: true,
  idempotent: true,
})

sketchContract<BlockedBloomFilter>('BlockedBloomFilter', {
  make: () => new BlockedBloomFilter({ ...options, capacity: 60 }),
  strangers: [
    () => new BlockedBloomFilter({ ...options, capacity: 600 }),
    () => new BlockedBloomFilter({ ...options, capacity: 60, errorRate: 0.01 }),
    () => new BlockedBloomFilter({ ...options, capacity: 60, seed: other }),
    () => new BloomFilter(options) as unknown as BlockedBloomFilter,
  ],
  feed: (filter, { key }) => filter.add(key),
  fromBytes: (bytes) => BlockedBloomFilter.fromBytes(bytes, { seed }),
  answers,
  mergesExactly: true,
  idempotent: true,
})

sketchContract<CountingBloomFilter>('CountingBloomFilter', {
  make: () => new CountingBloomFilter(options),
  strangers: [
    () => new CountingBloomFilter({ ...options, capacity: 200 }),
    () => new CountingBloomFilter({ ...options, seed: other }),
    () => new BloomFilter(options) as unknown as CountingBloomFilter,
  ],
  feed: (filter, { key, amount }: SketchEvent) => {
    for (let n = 0; n < amount; n++) filter.add(key)
  },
  fromBytes: (bytes) => CountingBloomFilter.fromBytes(bytes, { seed }),
  answers,
  mergesExactly: true,
  idempotent: false,
})

describe.each([
  ['BloomFilter', BloomFilter],
  ['BlockedBloomFilter', BlockedBloomFilter],
  ['CountingBloomFilter', CountingBloomFilter],
] as const)('%s', (_name, Filter) => {
  test.each([
    ['no options', undefined],
    ['no expected', {}],
    ['0 keys', { capacity: 0 }],
    ['half a key', { capacity: 1.5 }],
    ['2^31 keys', { capacity: 2 ** 31 }],
    ['NaN keys', { capacity: Number.NaN }],
    ['keys in quotes', { capacity: '100' }],
    ['a rate of 0', { capacity: 1, errorRate: 0 }],
    ['a rate of 1', { capacity: 1, errorRate: 1 }],
    ['a negative rate', { capacity: 1, errorRate: -0.01 }],
    ['a rate of NaN', { capacity: 1, errorRate: Number.NaN }],
    ['an unknown option', { capacity: 1, falsePositiveRate: 0.01 }],
    ['an invalid seed', { capacity: 1, seed: 5 }],
    ['more than 512 MiB', { capacity: 2 ** 31 - 1, errorRate: 0.01 }],
  ])('rejects %s before it allocates memory', (_what, given) => {
    expect(codeOf(() => new Filter(given as never))).toBe('SLUICE_BAD_OPTION')
  })

  test('rejects a seed that is too short', () => {
    expect(codeOf(() => new Filter({ capacity: 1, seed: 'short' }))).toBe('SLUICE_BAD_SEED')
  })

  test('reports its size in bytes, which equals the length of its serialized bytes', () => {
    const filter = new Filter({ capacity: 1000 })
    expect(filter.bytes).toBe(filter.toBytes().length)
  })

  test('uses the seed of this process by default', () => {
    const filter = new Filter({ capacity: 100 })
    filter.add('red')
    const copy = new Filter({ capacity: 100 })
    copy.merge(filter as never)
    expect(copy.has('red')).toBe(true)
    expect(Filter.fromBytes(filter.toBytes()).has('red')).toBe(true)
    expect(codeOf(() => Filter.fromBytes(filter.toBytes(), { seed: other }))).toBe('SLUICE_SKETCH_MISMATCH')
  })
})
