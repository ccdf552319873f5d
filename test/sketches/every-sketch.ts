import type { Sketch } from '@sluice/sketches'

export type Sketches = typeof import('@sluice/sketches')

/** A sketch class, of a copy of the package that the test chooses. */
export interface SketchClass {
  readonly name: string
  /** Returns the kind that is recorded in the bytes, or undefined if they are not bytes of a sketch. */
  readonly kind: number | undefined
  /** Creates an empty sketch. */
  make(from: Sketches): Sketch<never>
  read(from: Sketches, bytes: Uint8Array): Sketch<never>
  feed(sketch: Sketch<never>, key: string, at: number): void
}

export const SEED = 'a seed of sixteen bytes, and more'
const seeded = { seed: SEED }
const filter = { capacity: 100, seed: SEED }
const timed = { width: 16, depth: 2, unitMs: 10, retainMs: 100, seed: SEED }

function sketchClass<S extends Sketch<S>>(
  name: string,
  kind: number | undefined,
  of: {
    make(from: Sketches): S
    read(from: Sketches, bytes: Uint8Array): S
    feed(sketch: S, key: string, at: number): unknown
  },
): SketchClass {
  return { name, kind, ...of } as unknown as SketchClass
}

/** All classes that have `merge`, `toBytes` and `fromBytes`. */
export const everySketch: readonly SketchClass[] = [
  sketchClass('CountMin', 1, {
    make: ({ CountMin }) => new CountMin({ width: 16, depth: 2, ...seeded }),
    read: ({ CountMin }, bytes) => CountMin.fromBytes(bytes, seeded),
    feed: (sketch, key, at) => sketch.add(key, at),
  }),
  sketchClass('Estimator', 2, {
    make: ({ Estimator }) => new Estimator({ slots: 16, ...seeded }),
    read: ({ Estimator }, bytes) => Estimator.fromBytes(bytes, seeded),
    feed: (sketch, key, at) => sketch.incr(key, at),
  }),
  sketchClass('HyperLogLog', 3, {
    make: ({ HyperLogLog }) => new HyperLogLog({ precision: 6, ...seeded }),
    read: ({ HyperLogLog }, bytes) => HyperLogLog.fromBytes(bytes, seeded),
    feed: (sketch, key) => sketch.add(key),
  }),
  sketchClass('SpaceSaving', 4, {
    make: ({ SpaceSaving }) => new SpaceSaving({ capacity: 8 }),
    read: ({ SpaceSaving }, bytes) => SpaceSaving.fromBytes(bytes),
    feed: (sketch, key, at) => sketch.add(key, at),
  }),
  sketchClass('HeavyKeeper', 5, {
    make: ({ HeavyKeeper }) => new HeavyKeeper({ k: 8, width: 16, ...seeded }),
    read: ({ HeavyKeeper }, bytes) => HeavyKeeper.fromBytes(bytes, seeded),
    feed: (sketch, key, at) => sketch.add(key, at),
  }),
  sketchClass('TDigest', 6, {
    make: ({ TDigest }) => new TDigest({ compression: 10 }),
    read: ({ TDigest }, bytes) => TDigest.fromBytes(bytes),
    feed: (sketch, _, at) => sketch.add(at),
  }),
  sketchClass('BloomFilter', 7, {
    make: ({ BloomFilter }) => new BloomFilter(filter),
    read: ({ BloomFilter }, bytes) => BloomFilter.fromBytes(bytes, seeded),
    feed: (sketch, key) => sketch.add(key),
  }),
  sketchClass('BlockedBloomFilter', 8, {
    make: ({ BlockedBloomFilter }) => new BlockedBloomFilter(filter),
    read: ({ BlockedBloomFilter }, bytes) => BlockedBloomFilter.fromBytes(bytes, seeded),
    feed: (sketch, key) => sketch.add(key),
  }),
  sketchClass('CountingBloomFilter', 9, {
    make: ({ CountingBloomFilter }) => new CountingBloomFilter(filter),
    read: ({ CountingBloomFilter }, bytes) => CountingBloomFilter.fromBytes(bytes, seeded),
    feed: (sketch, key) => sketch.add(key),
  }),
  sketchClass('HokusaiTime', 10, {
    make: ({ HokusaiTime }) => new HokusaiTime({ ...timed, blocksPerLevel: 2 }),
    read: ({ HokusaiTime }, bytes) => HokusaiTime.fromBytes(bytes, seeded),
    feed: (sketch, key, at) => sketch.add(key, at, at),
  }),
  sketchClass('HokusaiItem', 11, {
    make: ({ HokusaiItem }) => new HokusaiItem(timed),
    read: ({ HokusaiItem }, bytes) => HokusaiItem.fromBytes(bytes, seeded),
    feed: (sketch, key, at) => sketch.add(key, at, at),
  }),
  sketchClass('Hokusai', 12, {
    make: ({ Hokusai }) => new Hokusai(timed),
    read: ({ Hokusai }, bytes) => Hokusai.fromBytes(bytes, seeded),
    feed: (sketch, key, at) => sketch.add(key, at, at),
  }),
  sketchClass('CountRange', 13, {
    make: ({ CountRange }) => new CountRange({ bits: 10, width: 16, depth: 2, ...seeded }),
    read: ({ CountRange }, bytes) => CountRange.fromBytes(bytes, seeded),
    feed: (sketch, _, at) => sketch.add(at, at),
  }),
  sketchClass('RedisBloomCountMin', 14, {
    make: ({ RedisBloomCountMin }) => new RedisBloomCountMin({ width: 16, depth: 2 }),
    read: ({ RedisBloomCountMin }, bytes) => RedisBloomCountMin.fromBytes(bytes),
    feed: (sketch, key, at) => sketch.add(key, at),
  }),
  sketchClass('RedisHyperLogLog', undefined, {
    make: ({ RedisHyperLogLog }) => new RedisHyperLogLog(),
    read: ({ RedisHyperLogLog }, bytes) => RedisHyperLogLog.fromBytes(bytes),
    feed: (sketch, key) => sketch.add(key),
  }),
]

/** Returns a sketch of a stream of 200 keys of all character widths, some of them frequent. */
export function fedSketch(one: SketchClass, from: Sketches): Sketch<never> {
  const sketch = one.make(from)
  for (let at = 1; at <= 200; at++) one.feed(sketch, `${at % 3 ? 'key' : 'ключ'} ${at % 37}`, at)
  return sketch
}
