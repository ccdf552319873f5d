import { HeavyKeeper, type HeavyKeeperOptions, SpaceSaving } from '@sluice/sketches'
import { sketchContract } from '../contract/sketch-contract.ts'

const ASKED = ['red', 'blue', 'green', '', '__proto__', 'naïve', '\ud800', '\ud801', 'x'.repeat(700), 'key 7']
const estimates = (sketch: { estimate(key: string): number }): number[] => ASKED.map((key) => sketch.estimate(key))

sketchContract<SpaceSaving>('SpaceSaving', {
  make: () => new SpaceSaving({ capacity: 8 }),
  strangers: [() => new SpaceSaving({ capacity: 7 })],
  feed: (sketch, { key, amount }) => sketch.add(key, amount),
  fromBytes: (bytes) => SpaceSaving.fromBytes(bytes),
  answers: (sketch) => ({
    total: sketch.total,
    floor: sketch.floor,
    top: sketch.top(),
    three: sketch.top(3),
    estimates: estimates(sketch),
    errors: ASKED.map((key) => sketch.error(key)),
  }),
  mergesExactly: false,
  idempotent: false,
  looseAnswers: ({ total }) => total,
})

const SEED = 'one seed for all of these tests'
const shape: HeavyKeeperOptions = { k: 4, width: 8, depth: 2, seed: SEED }

sketchContract<HeavyKeeper>('HeavyKeeper', {
  make: () => new HeavyKeeper(shape),
  strangers: [
    () => new HeavyKeeper({ ...shape, k: 5 }),
    () => new HeavyKeeper({ ...shape, width: 9 }),
    () => new HeavyKeeper({ ...shape, depth: 3 }),
    () => new HeavyKeeper({ ...shape, decay: 0.8 }),
    () => new HeavyKeeper({ ...shape, seed: 'another seed for these tests' }),
  ],
  feed: (sketch, { key, amount }) => void sketch.add(key, amount),
  fromBytes: (bytes) => HeavyKeeper.fromBytes(bytes, { seed: SEED }),
  answers: (sketch) => ({
    total: sketch.total,
    top: sketch.top(),
    two: sketch.top(2),
    estimates: estimates(sketch),
  }),
  mergesExactly: false,
  idempotent: false,
  looseAnswers: ({ total }) => total,
})
