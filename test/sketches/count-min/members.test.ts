import { CountMin, type CountMinOptions, CountRange, RedisBloomCountMin, SketchSeed } from '@sluice/sketches'
import { sketchContract } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('one seed for all of them')
const stranger = new SketchSeed('and another one for strangers')
const asked = ['red', 'blue', 'green', '', '__proto__', 'naïve', '\ud800', 'x'.repeat(700), 7, -1, 'never']
const estimates = (sketch: CountMin | RedisBloomCountMin): unknown => [
  asked.map((key) => sketch.estimate(key)),
  sketch.total,
]

const members: Readonly<Record<string, CountMinOptions>> = {
  'CountMin, 4 rows of hash pieces': { width: 16, depth: 4, seed },
  'CountMin, 3 rows of 11 cells': { width: 11, depth: 3, seed },
  'CountMin, 8 bits': { width: 4, depth: 2, seed, cells: 8 },
  'CountMin, 16 bits': { width: 8, depth: 6, seed, cells: 16 },
  'CountMin, conservative': { width: 8, depth: 3, seed, conservative: true },
  'CountMin, conservative, 8 bits': { width: 4, depth: 2, seed, conservative: true, cells: 8 },
  'CountMin, shared': { width: 16, depth: 4, seed, shared: true },
  'CountMin, shared, 8 bits': { width: 4, depth: 2, seed, shared: true, cells: 8 },
}

for (const [name, options] of Object.entries(members)) {
  sketchContract<CountMin>(name, {
    make: () => new CountMin(options),
    strangers: [
      () => new CountMin({ ...options, width: options.width + 1 }),
      () => new CountMin({ ...options, depth: options.depth + 1 }),
      () => new CountMin({ ...options, seed: stranger }),
      () => new CountMin({ ...options, cells: options.cells === 16 ? 8 : 16 }),
      () => new CountMin({ ...options, shared: false, conservative: !options.conservative }),
      () => new RedisBloomCountMin({ width: options.width, depth: options.depth }) as unknown as CountMin,
      () => undefined as unknown as CountMin,
    ],
    feed: (sketch, { key, amount }) => sketch.add(key, amount),
    fromBytes: (bytes) => CountMin.fromBytes(bytes, { seed }),
    answers: estimates,
    mergesExactly: !options.conservative,
    idempotent: false,
  })
}

sketchContract<RedisBloomCountMin>('RedisBloomCountMin', {
  make: () => new RedisBloomCountMin({ width: 7, depth: 3 }),
  strangers: [
    () => new RedisBloomCountMin({ width: 8, depth: 3 }),
    () => new RedisBloomCountMin({ width: 7, depth: 2 }),
    () => new CountMin({ width: 7, depth: 3, seed }) as unknown as RedisBloomCountMin,
    () => undefined as unknown as RedisBloomCountMin,
  ],
  feed: (sketch, { key, amount }) => sketch.add(key, amount),
  fromBytes: (bytes) => RedisBloomCountMin.fromBytes(bytes),
  answers: estimates,
  mergesExactly: true,
  idempotent: false,
})

// the length and the first character of a text, so that keys of the stream are equal or adjacent
const numberOf = (key: string): number => (key.length * 256 + (key.charCodeAt(0) || 0)) % 2 ** 12

sketchContract<CountRange>('CountRange', {
  make: () => new CountRange({ bits: 12, width: 13, depth: 2, seed }),
  strangers: [
    () => new CountRange({ bits: 11, width: 13, depth: 2, seed }),
    () => new CountRange({ bits: 12, width: 12, depth: 2, seed }),
    () => new CountRange({ bits: 12, width: 13, depth: 2, seed: stranger }),
    () => new CountMin({ width: 13, depth: 2, seed }) as unknown as CountRange,
  ],
  feed: (sketch, { key, amount }) => sketch.add(numberOf(key), amount),
  fromBytes: (bytes) => CountRange.fromBytes(bytes, { seed }),
  answers: (sketch) => [
    sketch.total,
    [
      [0, 4095],
      [0, 0],
      [3, 800],
      [256, 511],
      [2048, 4000],
    ].map(([low, high]) => sketch.range(low, high)),
  ],
  mergesExactly: true,
  idempotent: false,
})
