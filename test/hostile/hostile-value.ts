import type { SeededRandom } from '@sluice/testkit'

const SCALARS = [
  null,
  true,
  '',
  'x',
  '__proto__',
  'x'.repeat(2_000),
  '\ud800\0',
  -1,
  0,
  1,
  1.5,
  2 ** 53,
  2 ** 53 - 1,
  1e308,
  -1e308,
] as const

/** Returns a random JSON value that no process sends. */
export function hostileValue(random: SeededRandom, depth = 0): unknown {
  if (depth > 3 || random.whole(3) > 0) return random.pick(SCALARS)
  const list = Array.from({ length: random.whole(5) }, () => hostileValue(random, depth + 1))
  if (random.whole(20) === 0) return nested(40)
  return random.whole(3) === 0 ? { ['__proto__']: 1, constructor: list, length: 2 ** 53 - 1, toJSON: 1 } : list
}

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)]
}
